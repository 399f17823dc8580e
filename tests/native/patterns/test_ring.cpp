// The pattern on every transport that starts its own ranks.
#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <utility>

#include "rank_counts.hpp"
#include "roster.hpp"
#include "timing/sampler.hpp"

#include "patterns/traffic/ring.hpp"

namespace nhalf::test_ring {

namespace {

Case point(int number, const std::string& method, std::size_t size_bytes) {
  const auto axes = "ring=" + std::to_string(number) + ",method=" + method;
  return {.size_bytes = size_bytes, .axes = Options::parse(axes, ','), .hosts = {}};
}

template <class Body>
void on_ranks(int ranks, Body body) {
  ProbeTransport::launch(0, nullptr, ranks, Options{}, body);
}

/// A transport whose messages arrive with one byte changed from message number `from` on.
class Spoiling : public ProbeTransport {
 public:
  Spoiling(ProbeTransport&& good, int from, std::size_t where)
      : ProbeTransport(std::move(good)), left_(from), where_(where) {}
  void exchange(int to, ConstBytes out, int from, Bytes in) {
    ProbeTransport::exchange(to, out, from, in);
    if (--left_ < 0) in[where_] ^= std::byte{1};
  }

 private:
  int left_;
  std::size_t where_;
};

constexpr const char* methods[] = {"sendrecv", "alltoallv", "nonblocking"};

}  // namespace

TEST_CASE("rings verify with every method, and say how many bytes move") {
  for (const int ranks : rank_counts)
    for (const int number : {1, 2, 3, 4, 5, 6, 7, 36})
      for (const auto* method : methods)
        for (const std::size_t size : {0UL, 1UL, 2UL, 3UL, 1025UL, 70000UL}) {
          CAPTURE(ranks);
          CAPTURE(number);
          CAPTURE(method);
          CAPTURE(size);
          std::atomic<int> good{0};
          on_ranks(ranks, [&](ProbeTransport& t) {
            Ring<ProbeTransport> pattern(t, point(number, method, size));
            const bool right = pattern.verify();
            pattern.run(3);
            pattern.values();
            const auto messages = RingLayout(ranks, number, 1).messages();
            good += right && pattern.moved_bytes() == messages * size ? 1 : 0;
          });
          CHECK(good == ranks);
        }
}

TEST_CASE("one wrong byte is found: anywhere in the first message, at the ends in all of them") {
  for (const std::size_t where : {0UL, 1UL, 500UL, 998UL, 999UL})
    on_ranks(2, [&](ProbeTransport& t) {
      Spoiling spoiling(std::move(t), 0, where);
      Ring<Spoiling> pattern(spoiling, point(1, "sendrecv", 1000));
      CHECK(!pattern.verify());
    });
  for (const std::size_t where : {0UL, 999UL})
    on_ranks(2, [&](ProbeTransport& t) {
      Spoiling spoiling(std::move(t), 1, where);
      Ring<Spoiling> pattern(spoiling, point(1, "sendrecv", 1000));
      CHECK(pattern.verify());
      pattern.run(2);
      pattern.values();
      CHECK(!pattern.is_right());
    });
}

namespace {

/// A transport whose calls all succeed, and whose messages never leave.
class Silent : public ProbeTransport {
 public:
  explicit Silent(ProbeTransport&& good) : ProbeTransport(std::move(good)) {}
  void exchange(int, ConstBytes out, int, Bytes in) {
    if (marks_only && !out.empty()) in.front() = in.back() = out.front();
  }
  bool marks_only = false;
};

}  // namespace

TEST_CASE("what an earlier point left in memory is no message") {
  on_ranks(2, [&](ProbeTransport& t) {
    for (int turn = 0; turn < 3; ++turn)
      Ring<ProbeTransport>(t, point(1, "sendrecv", 1000)).verify();
    Silent silent(std::move(t));
    for (int number = 1; number < 20; ++number) {
      Ring<Silent> nothing(silent, point(number, "sendrecv", 1000));
      CHECK(!nothing.verify());
    }
    silent.marks_only = true;
    for (int number = 2; number < 20; ++number) {
      Ring<Silent> hollow(silent, point(number, "sendrecv", 1000));
      CHECK(!hollow.verify());
    }
  });
}

namespace {

/// Messages of a round of all ranks, where the transport counts them.
template <class T>
std::uint64_t counted(int ranks, int number, const char* method) {
  std::uint64_t found = 0;
  T::launch(0, nullptr, ranks, Options{}, [&](T& t) {
    Ring<T> pattern(t, point(number, method, 100));
    t.barrier();
    const auto before = t.messages_sent();
    t.barrier();
    pattern.run(1);
    t.barrier();
    if (t.rank() == 0) found = t.messages_sent() - before;
  });
  return found;
}

/// Whether each round sends as many messages as the definition says.
template <class T>
void check_counts() {
  if constexpr (requires(T& t) { t.messages_sent(); }) {
    for (const int ranks : rank_counts)
      for (const int number : {1, 2, 3, 4, 6, 7}) {
        const std::uint64_t target = number == 1 ? 2 : number == 2 ? 4 : number == 3 ? 8 : 99;
        const auto p = static_cast<std::uint64_t>(ranks);
        const auto rings = std::max<std::uint64_t>(
            1, std::min((10 * p + 4 * std::min(target, p)) / (10 * std::min(target, p)), p / 2));
        // A ring of two has one message per rank, any other two.
        const std::uint64_t in_pairs = p / rings == 2 ? 2 * (rings - p % rings) : 0;
        for (const auto* method : methods)
          CHECK(counted<T>(ranks, number, method) == 2 * p - in_pairs);
      }
  }
}

}  // namespace

TEST_CASE("messages of a round are those of the definition") {
  check_counts<ProbeTransport>();
}

TEST_CASE("what is no point is refused") {
  on_ranks(2, [](ProbeTransport& t) {
    using Made = Ring<ProbeTransport>;
    CHECK_THROWS_AS(Made(t, point(0, "sendrecv", 1)), InputError);
    CHECK_THROWS_AS(Made(t, point(37, "sendrecv", 1)), InputError);
    CHECK_THROWS_AS(Made(t, point(1, "broadcast", 1)), InputError);
    CHECK_THROWS_AS(Made(t, Case{.size_bytes = 1}), InputError);
  });
}

TEST_CASE("memory: six times the longest length, a share of it where ranks are many") {
  using Made = Ring<ProbeTransport>;
  constexpr std::size_t large = 8 << 20;
  CHECK(Made::arena_bytes(large, 1) == 6 * (large + 16));
  CHECK(Made::arena_bytes(1, 1) == 6 * ((4 << 20) + 16));
  for (const std::size_t ranks : {1UL, 2UL, 64UL, 1024UL})
    CHECK(2 * ranks * Made::arena_bytes(1, ranks) <= Buffer::largest_bytes());
  CHECK(Made::arena_bytes(1, 1 << 20) >= 3 * 9);
  CHECK_THROWS_AS(Made::arena_bytes(Buffer::largest_bytes(), 1), std::bad_alloc);
}

}  // namespace nhalf::test_ring
