// On the simulated machine operations send the messages and take the time of their algorithms.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "roster.hpp"

#include "patterns/collectives/barrier_communicator.hpp"

namespace nhalf::test_model_collectives {

namespace {

Case point(std::size_t size_bytes, const std::string& axes = "") {
  return {size_bytes, Options::parse(axes, ','), {}};
}

/// Runs a body on every rank; whether it was true on all.
template <class Body>
bool everywhere(int ranks, Body body, const std::string& options = "") {
  bool good = true;
  ModelTransport::launch(0, nullptr, ranks, Options::parse(options, ','),
                         [&](ModelTransport& t) { good = body(t) && good; });
  return good;
}

/// A transport whose barrier lets ranks pass.
class Open : public ModelTransport {
 public:
  explicit Open(ModelTransport&& good) : ModelTransport(std::move(good)) {}
  void synchronise() {}
};

constexpr double o_s = 1.5e-6, o_r = 2.5e-6, g = 6e-6, L = 5e-6, G = 1e-9;
constexpr const char* given = "o_s=1.5e-6,o_r=2.5e-6,g=6e-6,L=5e-6,G=1e-9";

struct Cost {
  std::uint64_t messages = 0;
  double time_s = 0;
};

/// What one operation of a pattern costs, from a common start to the last end.
Cost cost_of(const std::string& name, int ranks, std::size_t size_bytes,
             const std::string& axes = "") {
  Cost cost;
  const auto body = [&](ModelTransport& t) {
    for (const auto& entry : patterns<ModelTransport>()) {
      if (entry.info.name != name) continue;
      const auto pattern = entry.make(t, point(size_bytes, axes));
      t.barrier();
      const auto before = t.messages_sent();
      const double began_s = t.now_s();
      t.barrier();
      pattern->run(1);
      t.barrier();
      if (t.rank() == 0) cost = {t.messages_sent() - before, t.now_s() - began_s};
    }
    return true;
  };
  everywhere(ranks, body, given);
  return cost;
}

/// Operations by the formulas of their algorithms, for p ranks and n bytes.
struct Formula {
  const char* name;
  std::function<int(int)> messages;
  std::function<double(int, double)> time_s;
  bool powers_of_two_only = false;
};

int rounds_of(int p) {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(p - 1)));
}
double one_s(double n) {
  return o_s + n * G + L + o_r;
}
double gap_s(double n) {
  return std::max(o_s, g + n * G);
}

const std::vector<Formula>& formulas() {
  const auto others = [](int p) { return p - 1; };
  const auto pairs = [](int p) { return p * (p - 1); };
  const auto tree = [](int p, double n) { return rounds_of(p) * one_s(n); };
  const auto chain = [](int p, double n) { return (p - 1) * one_s(n); };
  const auto fan = [](int p, double n) { return (p - 2) * gap_s(n) + one_s(n); };
  const auto all = [](int p, double n) {
    return (p - 2) * gap_s(n) + o_s + std::max(n * G + L + o_r, (p - 1) * o_r);
  };
  static const std::vector<Formula> known{
      {"bcast", others, tree, true},
      {"reduce", others, tree, true},
      {"allreduce", [](int p) { return 2 * (p - 1); },
       [tree](int p, double n) { return 2 * tree(p, n); }, true},
      {"scatter", others, fan},
      {"gather", others, fan},
      {"scan", others, chain},
      {"allgather", pairs, chain},
      {"alltoall", pairs, all},
      {"alltoallv", pairs, all},
      {"reduce-scatter", pairs,
       [chain](int p, double n) {
         const double floats = std::ceil(n / 4 / p);
         return chain(p, 4 * floats);
       }},
  };
  return known;
}

}  // namespace

TEST_CASE("operations send as many messages and take as long as their algorithms say") {
  for (const auto& formula : formulas())
    for (int p = 2; p <= 17; ++p)
      for (const std::size_t n : {4UL, 1000UL, 20000UL}) {
        CAPTURE(formula.name);
        CAPTURE(p);
        CAPTURE(n);
        const auto cost = cost_of(formula.name, p, n);
        CHECK(cost.messages == static_cast<std::uint64_t>(formula.messages(p)));
        if (!formula.powers_of_two_only || std::has_single_bit(static_cast<unsigned>(p)))
          CHECK(cost.time_s ==
                doctest::Approx(formula.time_s(p, static_cast<double>(n))).epsilon(1e-9));
        CHECK(cost_of("i" + std::string(formula.name), p, n).messages == cost.messages);
      }
}

TEST_CASE("a barrier by dissemination: p ceil(log2 p) messages in ceil(log2 p) rounds") {
  for (int p = 2; p <= 17; ++p) {
    CAPTURE(p);
    const auto cost = cost_of("barrier", p, 0);
    CHECK(cost.messages == static_cast<std::uint64_t>(p * rounds_of(p)));
    CHECK(cost.time_s == doctest::Approx(rounds_of(p) * one_s(0)).epsilon(1e-9));
  }
}

TEST_CASE("in place takes the same messages and time") {
  for (const auto* name : {"scatter", "gather", "allgather", "alltoall", "alltoallv", "reduce",
                           "allreduce", "reduce-scatter", "scan"}) {
    CAPTURE(name);
    const auto out = cost_of(name, 5, 1000, "place=out");
    const auto in = cost_of(name, 5, 1000, "place=in");
    CHECK(in.messages == out.messages);
    CHECK(in.time_s == doctest::Approx(out.time_s).epsilon(1e-9));
  }
}

TEST_CASE("empty blocks of alltoallv are no messages") {
  CHECK(everywhere(5, [](ModelTransport& t) {
    const auto ranks = static_cast<std::size_t>(t.size());
    const auto next = static_cast<std::size_t>((t.rank() + 1) % t.size());
    const auto before = static_cast<std::size_t>((t.rank() + t.size() - 1) % t.size());
    std::vector<int> to(ranks, 0), from(ranks, 0), offsets(ranks, 0);
    to[next] = from[before] = 100;
    Buffer out(100), in(100);
    out.fill(static_cast<std::uint32_t>(t.rank()));
    t.barrier();
    const auto sent = t.messages_sent();
    t.barrier();
    t.alltoallv(out.bytes(), to, offsets, in.bytes(), from, offsets);
    t.barrier();
    return t.messages_sent() - sent == ranks && in.holds(static_cast<std::uint32_t>(before));
  }));
}

TEST_CASE("a barrier that lets ranks pass is found") {
  for (const int ranks : {2, 3, 17}) {
    bool passed = true;
    everywhere(ranks, [&](ModelTransport& t) {
      Open open(std::move(t));
      passed = open.all(Barrier<Open>(open, point(0)).verify());
      return true;
    });
    CHECK(!passed);
  }
}

namespace {

/// A transport that works on operations by itself, but for a part, and counts tests.
class Progressing : public ModelTransport {
 public:
  static constexpr double alone_s = 4e-5, rest_s = 1e-5;

  explicit Progressing(ModelTransport&& good) : ModelTransport(std::move(good)) {}
  CollectiveRequest isynchronise() {
    done_s_ = now_s() + alone_s;
    return {};
  }
  void wait(CollectiveRequest&) {
    idle_until(done_s_);
    idle_until(now_s() + rest_s);
  }
  using ModelTransport::wait;
  bool test(CollectiveRequest&) {
    ++tests;
    return false;
  }
  int tests = 0;

 private:
  double done_s_ = 0;
};

double value_of(const std::vector<Value>& values, const std::string& name) {
  for (const auto& value : values)
    if (value.name == name) return value.value;
  return -1;
}

}  // namespace

TEST_CASE("operations that go on only while they are waited for overlap with nothing") {
  everywhere(4, [](ModelTransport& t) {
    for (const auto& entry : patterns<ModelTransport>()) {
      const auto& info = entry.info;
      if (info.needs != "non-blocking-collectives") continue;
      const auto pattern = entry.make(t, point(1000, "work=1"));
      CHECK(pattern->verify());
      pattern->prepare();
      const auto values = pattern->values();
      if (t.rank() != 0) continue;
      CAPTURE(info.name);
      CHECK(value_of(values, "pure_s") > 0);
      CHECK(value_of(values, "work_s") ==
            doctest::Approx(value_of(values, "pure_s")).epsilon(1e-9));
      CHECK(value_of(values, "total_s") ==
            doctest::Approx(2 * value_of(values, "pure_s")).epsilon(1e-9));
      CHECK(value_of(values, "overlap") == doctest::Approx(0).epsilon(1e-9));
    }
    return true;
  });
}

TEST_CASE("what a transport does by itself is overlap") {
  everywhere(2, [](ModelTransport& t) {
    Progressing progressing(std::move(t));
    IBarrier<Progressing> pattern(progressing, point(0, "work=1,tests=3"));
    pattern.verify();
    pattern.prepare();
    progressing.tests = 0;
    pattern.run(2);
    CHECK(progressing.tests == 6);
    const auto values = pattern.values();
    if (progressing.rank() == 0) {
      CHECK(value_of(values, "pure_s") == doctest::Approx(5e-5).epsilon(1e-9));
      CHECK(value_of(values, "work_s") == doctest::Approx(5e-5).epsilon(1e-9));
      CHECK(value_of(values, "total_s") == doctest::Approx(6e-5).epsilon(1e-9));
      CHECK(value_of(values, "overlap") == doctest::Approx(0.8).epsilon(1e-9));
    }
    return true;
  });
}

TEST_CASE("operations of other sizes are begun and waited for beside one") {
  const auto one = cost_of("iallreduce", 4, 4000), other = cost_of("iallreduce", 4, 8000);
  const auto all = cost_of("iallreduce", 4, 4000, "beside=8000:4000");
  CHECK(all.messages == 2 * one.messages + other.messages);
  CHECK(all.time_s > other.time_s);
  CHECK(all.time_s < 2 * one.time_s + other.time_s + 1e-12);
  CHECK(cost_of("iallreduce", 4, 4000, "beside=none").messages == one.messages);
  everywhere(2, [](ModelTransport& t) {
    for (const auto* axes : {"beside=", "beside=8:", "beside=-8", "beside=8:x"})
      CHECK_THROWS_AS(IBarrier<ModelTransport>(t, point(0, axes)), InputError);
    return true;
  });
}

TEST_CASE("without work there is nothing to say about overlap") {
  everywhere(2, [](ModelTransport& t) {
    IBarrier<ModelTransport> pattern(t, point(0));
    CHECK(pattern.verify());
    CHECK(pattern.values().empty());
    CHECK_THROWS_AS(IBarrier<ModelTransport>(t, point(0, "tests=-1")), InputError);
    return true;
  });
}

}  // namespace nhalf::test_model_collectives
