// What every transport promises, and every pattern on it, for many numbers of ranks.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "contract/buffer.hpp"
#include "contract/options.hpp"
#include "rank_counts.hpp"
#include "roster.hpp"
#include "timing/sampler.hpp"
#include "variations.hpp"

namespace nhalf::test_conformance {

namespace {

/// Runs a body on every rank; the number of ranks on which it returned true.
int agreeing(int ranks, const std::function<bool(ProbeTransport&)>& body) {
  std::atomic<int> agreed{0};
  const auto count = [&](ProbeTransport& transport) { agreed += body(transport) ? 1 : 0; };
  ProbeTransport::launch(0, nullptr, ranks, Options{}, count);
  return agreed;
}

/// A ring: everybody sends to the next rank and checks what came from the one before.
bool passes_ring(ProbeTransport& transport, std::size_t size_bytes) {
  const int ranks = transport.size();
  const int next = (transport.rank() + 1) % ranks;
  const int before = (transport.rank() + ranks - 1) % ranks;
  Buffer out(size_bytes);
  Buffer in(size_bytes);
  out.fill(static_cast<std::uint32_t>(transport.rank()));
  if (transport.rank() == 0) {
    transport.send(next, out.bytes());
    transport.recv(before, in.bytes());
  } else {
    transport.recv(before, in.bytes());
    transport.send(next, out.bytes());
  }
  return in.holds(static_cast<std::uint32_t>(before));
}

}  // namespace

TEST_CASE("ranks are numbered from 0 and know how many they are") {
  for (const int ranks : rank_counts) {
    std::vector<std::atomic<int>> seen(static_cast<std::size_t>(ranks));
    CHECK(agreeing(ranks, [&](ProbeTransport& t) {
            ++seen[static_cast<std::size_t>(t.rank())];
            return t.size() == ranks;
          }) == ranks);
    for (const auto& times : seen) CHECK(times == 1);
  }
}

TEST_CASE("data arrives as it was sent, around a ring") {
  for (const int ranks : rank_counts)
    for (const std::size_t size : {0UL, 1UL, 1024UL, 1025UL, 70000UL}) {
      CAPTURE(ranks);
      CAPTURE(size);
      CHECK(agreeing(ranks, [&](ProbeTransport& t) { return passes_ring(t, size); }) == ranks);
    }
}

TEST_CASE("messages of one pair keep their order") {
  CHECK(agreeing(2, [](ProbeTransport& t) {
          bool ordered = true;
          for (unsigned char i = 0; i < 100; ++i) {
            std::byte byte{i};
            if (t.rank() == 0) t.send(1, std::span(&byte, 1));
            if (t.rank() == 1) {
              t.recv(0, std::span(&byte, 1));
              ordered = ordered && byte == std::byte{i};
            }
          }
          return ordered;
        }) == 2);
}

TEST_CASE("control: broadcast, verdict and gathering") {
  for (const int ranks : rank_counts) {
    CAPTURE(ranks);
    CHECK(agreeing(ranks, [&](ProbeTransport& t) {
            std::string text = t.rank() == 0 ? "from rank 0" : "";
            share(t, text);
            const bool one_says_no = t.all(t.rank() != 1);
            const bool all_say_yes = t.all(true);
            const auto texts = t.gather(std::to_string(t.rank()));
            const bool gathered =
                t.rank() != 0 || (texts.size() == static_cast<std::size_t>(ranks) &&
                                  texts.back() == std::to_string(ranks - 1));
            return text == "from rank 0" && !one_says_no && all_say_yes && gathered;
          }) == ranks);
  }
}

TEST_CASE("the clock does not go back over messages and barriers") {
  CHECK(agreeing(3, [](ProbeTransport& t) {
          const double before_s = t.now_s();
          passes_ring(t, 100);
          t.barrier();
          return t.now_s() >= before_s;
        }) == 3);
}

namespace {

/// Whether a pattern verifies and, where it is `sampled`, gives samples; at every rank.
bool works(ProbeTransport& t, const PatternEntry<ProbeTransport>& entry, const Case& point,
           bool sampled) {
  const auto pattern = entry.make(t, point);
  if (!sampled) return t.all(pattern->verify());
  const Effort effort{.slice_s = 1e-4, .samples_min = 2, .samples_max = 5};
  const auto measured = Sampler(t, calibrate(t), effort).measure(*pattern, entry.info);
  // The samples of single operations are those of rank 0.
  const bool has_samples = t.rank() != 0 || !measured.samples_s.empty();
  const bool good = measured.verified && measured.stop != Stop::none && has_samples;
  return t.all(good);
}

/// The sizes from `wanted` that a pattern can have.
std::vector<std::size_t> sizes_of(const PatternInfo& info, std::vector<std::size_t> wanted) {
  if (!info.sized) return {0};
  const auto multiple = static_cast<std::size_t>(info.size_multiple);
  for (auto& size : wanted) size = (size + multiple - 1) / multiple * multiple;
  return wanted;
}

/// The patterns that are present and belong to this process: NHALF_SHARD=1/3 are the first, the
/// fourth and so on.
std::vector<const PatternEntry<ProbeTransport>*> entries() {
  unsigned shard = 1;
  unsigned shards = 1;
  if (const char* text = std::getenv("NHALF_SHARD"))
    REQUIRE(std::sscanf(text, "%u/%u", &shard, &shards) == 2);
  std::vector<const PatternEntry<ProbeTransport>*> found;
  for (unsigned i = 0; const auto& entry : patterns<ProbeTransport>())
    if (entry.make != nullptr && i++ % shards == shard - 1) found.push_back(&entry);
  return found;
}

/// Each of these patterns, at each of these sizes and axes, on one team of ranks; names of those
/// that did not work.
std::string failures(int ranks, const std::vector<std::size_t>& sizes, bool every_axis,
                     bool sampled) {
  std::string failed;
  const auto tried = entries();
  CHECK(!tried.empty());
  agreeing(ranks, [&](ProbeTransport& t) {
    for (const auto* known : tried) {
      const auto& entry = *known;
      if (ranks < entry.info.ranks_min) continue;
      if (sampled && entry.info.timing == Timing::operation) continue;
      for (const auto& axes : every_axis
                                  ? variation::variations(entry.info.axes, ranks)
                                  : std::vector{variation::first_values(entry.info.axes, ranks)})
        for (const auto size : sizes_of(entry.info, sizes)) {
          const bool good = works(t, entry, {size, Options::parse(axes, ','), {}}, sampled);
          if (!good && t.rank() == 0)
            failed +=
                std::string(entry.info.name) + " " + std::to_string(size) + " B " + axes + "; ";
        }
    }
    return true;
  });
  return failed;
}

}  // namespace

TEST_CASE("every pattern that is present verifies, for every number of ranks") {
  for (const int ranks : rank_counts) {
    CAPTURE(ranks);
    CHECK(failures(ranks, {1, 5000}, false, false) == "");
  }
}

TEST_CASE("every pattern that is present verifies at every value of its axes, and without data") {
  for (const int ranks : {2, 5}) {
    CAPTURE(ranks);
    CHECK(failures(ranks, {0, 4100}, true, false) == "");
  }
}

TEST_CASE("every pattern that is timed in batches gives samples") {
  CHECK(failures(2, {0, 1000}, true, true) == "");
  CHECK(failures(5, {1000}, false, true) == "");
}

namespace {

/// A ping-pong whose rank 1 sends something else than was agreed.
class Liar : public Pattern {
 public:
  explicit Liar(ProbeTransport& transport) : transport_(transport) {}
  void run(std::uint64_t) override {}
  bool verify() override { return transport_.rank() != 1; }

 private:
  ProbeTransport& transport_;
};

}  // namespace

TEST_CASE("one rank's wrong data is everybody's verdict, and nothing is timed") {
  CHECK(agreeing(3, [](ProbeTransport& t) {
          Liar liar(t);
          const PatternInfo info{.name = "liar", .what = ""};
          const auto measured = Sampler(t, calibrate(t), Effort{}).measure(liar, info);
          return !measured.verified && measured.samples_s.empty();
        }) == 3);
}

}  // namespace nhalf::test_conformance
