// How many messages are looked at before and after timing, on a clock that the pattern moves.
#include "timing/verification.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

namespace nhalf::test_verification {

namespace {

/// The only rank; a barrier takes no time.
struct Alone {
  static constexpr TransportInfo info{"alone", "", {}};

  double clock_s = 0;

  int rank() const { return 0; }
  int size() const { return 1; }
  double now_s() const { return clock_s; }
  void send(int, ConstBytes) {}
  void recv(int, Bytes) {}
  void barrier() {}
  void broadcast(Bytes) {}
  bool all(bool mine) { return mine; }
  std::vector<std::string> gather(const std::string& text) { return {text}; }
  std::string library() const { return ""; }
};

/// A round takes `round_s`; what came in round number `wrong_round` is wrong.
struct Counted : Pattern {
  explicit Counted(Alone& alone) : transport(alone) {}
  void run(std::uint64_t) override {}
  bool verify() override {
    transport.clock_s += round_s;
    return ++rounds != wrong_round;
  }
  bool checks_messages() const override { return has_messages; }
  bool is_right() override { return left_right; }

  Alone& transport;
  double round_s = 1e-6;
  std::uint64_t rounds = 0;
  std::uint64_t wrong_round = std::numeric_limits<std::uint64_t>::max();
  bool has_messages = true;
  bool left_right = true;
};

struct Tried {
  Alone transport;
  Counted pattern{transport};
  ClockQuality clock{.resolution_s = 1e-9, .overhead_s = 2e-8};
  double slice_s = 1;

  bool before() { return verification().before(pattern); }
  bool after() { return verification().after(pattern); }
  Verification<Alone> verification() { return {transport, clock, Effort{.slice_s = slice_s}}; }
};

}  // namespace

TEST_CASE("one wrong message in a thousand is noticed before the timing") {
  for (const std::uint64_t wrong_round : {1, 2, 3, 500, 1000, 1001}) {
    CAPTURE(wrong_round);
    Tried tried;
    tried.pattern.wrong_round = wrong_round;
    CHECK(!tried.before());
  }
  Tried tried;
  CHECK(tried.before());
  CHECK(tried.pattern.rounds == 1001);
}

TEST_CASE("one wrong message in five hundred is noticed after the timing") {
  for (const std::uint64_t wrong_round : {1, 2, 3, 499, 500}) {
    CAPTURE(wrong_round);
    Tried tried;
    tried.pattern.wrong_round = wrong_round;
    CHECK(!tried.after());
  }
  Tried tried;
  CHECK(tried.after());
  CHECK(tried.pattern.rounds == 500);
}

TEST_CASE("rounds take no more than their part of the slice") {
  for (const double slice_s : {0.1, 1.0}) {
    CAPTURE(slice_s);
    Tried tried;
    tried.slice_s = slice_s;
    tried.pattern.round_s = 1e-3;
    auto verification = tried.verification();
    CHECK(verification.before(tried.pattern));
    const auto before = static_cast<double>(tried.pattern.rounds);
    CHECK(before * 1e-3 == doctest::Approx(0.4 * slice_s).epsilon(0.03));
    CHECK(verification.after(tried.pattern));
    const auto after = static_cast<double>(tried.pattern.rounds) - before;
    CHECK(after * 1e-3 == doctest::Approx(0.2 * slice_s).epsilon(0.06));
  }
}

TEST_CASE("rounds take up to half of a short slice, and two milliseconds of a longer one") {
  const struct {
    double slice_s, before_s, after_s;
  } cases[] = {{0.001, 0.0005, 0.00025}, {0.004, 0.002, 0.001}, {0.005, 0.002, 0.00125}};
  for (const auto& expected : cases) {
    CAPTURE(expected.slice_s);
    Tried tried;
    tried.slice_s = expected.slice_s;
    tried.pattern.round_s = 1e-5;
    auto verification = tried.verification();
    CHECK(verification.before(tried.pattern));
    const auto before = static_cast<double>(tried.pattern.rounds);
    CHECK(before * 1e-5 == doctest::Approx(expected.before_s).epsilon(0.06));
    CHECK(verification.after(tried.pattern));
    const auto after = static_cast<double>(tried.pattern.rounds) - before;
    CHECK(after * 1e-5 == doctest::Approx(expected.after_s).epsilon(0.06));
  }
}

TEST_CASE("a round that takes longer than all rounds may is not repeated") {
  Tried tried;
  tried.pattern.round_s = 2;
  auto verification = tried.verification();
  CHECK(verification.before(tried.pattern));
  CHECK(tried.pattern.rounds == 1);
  CHECK(verification.after(tried.pattern));
  CHECK(tried.pattern.rounds == 1);
}

TEST_CASE("a round that takes no time at all is repeated as often as others") {
  Tried tried;
  tried.pattern.round_s = 0;
  CHECK(tried.before());
  CHECK(tried.pattern.rounds == 1001);
}

TEST_CASE("one round is enough in virtual time, and where no messages are checked") {
  for (const bool is_virtual : {false, true}) {
    CAPTURE(is_virtual);
    Tried tried;
    tried.clock.is_virtual = is_virtual;
    tried.pattern.has_messages = is_virtual;
    auto verification = tried.verification();
    CHECK(verification.before(tried.pattern));
    CHECK(verification.after(tried.pattern));
    CHECK(tried.pattern.rounds == 1);
  }
}

TEST_CASE("what the timed rounds left is looked at, in virtual time too") {
  for (const bool is_virtual : {false, true}) {
    CAPTURE(is_virtual);
    Tried tried;
    tried.clock.is_virtual = is_virtual;
    tried.pattern.left_right = false;
    CHECK(!tried.after());
  }
}

}  // namespace nhalf::test_verification
