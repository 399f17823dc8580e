#include "transports/shm/signals.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

namespace nhalf {

namespace {

using Memory = std::array<std::byte, 256>;

/// Two ranks in one thread, each with memory and its end of the line.
struct Two {
  CarriedLine line{};
  CarriedPuts first{line, true}, other{line, false};
  Memory at_first{}, at_other{};
};

std::vector<std::byte> numbers(std::size_t count, int from) {
  std::vector<std::byte> made;
  for (std::size_t i = 0; i < count; ++i)
    made.push_back(static_cast<std::byte>(from + static_cast<int>(i)));
  return made;
}

bool lies_in(const Memory& memory, std::size_t offset, const std::vector<std::byte>& data) {
  return std::equal(data.begin(), data.end(), memory.begin() + static_cast<std::ptrdiff_t>(offset));
}

constexpr std::byte none{0};

}  // namespace

TEST_CASE("a put of any length that fits arrives whole at its place, with its signal") {
  for (std::size_t count = 0; count <= CarriedLine::room_bytes; ++count) {
    CAPTURE(count);
    Two two;
    const auto data = numbers(count, 3);
    REQUIRE(CarriedPuts::fits(data, 17));
    two.first.carry(data, 17, 5);
    CHECK(two.other.take(two.at_other) == 5);
    CHECK(lies_in(two.at_other, 17, data));
    const auto written = std::ranges::count_if(two.at_other, [](auto b) { return b != none; });
    CHECK(static_cast<std::size_t>(written) == count);
  }
}

TEST_CASE("the two ranks send in turn, and one of them first") {
  Two two;
  CHECK(two.first.has_turn());
  CHECK_FALSE(two.other.has_turn());
  CHECK_FALSE(two.other.take(two.at_other).has_value());
  two.first.carry(numbers(8, 1), 0, 0);
  CHECK_FALSE(two.first.has_turn());
  CHECK_FALSE(two.first.take(two.at_first).has_value());
  CHECK(two.other.take(two.at_other).has_value());
  CHECK(two.other.has_turn());
  CHECK_FALSE(two.other.take(two.at_other).has_value());
  two.other.carry(numbers(8, 2), 0, 0);
  CHECK(two.first.take(two.at_first).has_value());
  CHECK(two.first.has_turn());
  CHECK(lies_in(two.at_first, 0, numbers(8, 2)));
}

TEST_CASE("what is too long or lies too far behind is not carried") {
  CHECK(CarriedPuts::fits(numbers(CarriedLine::room_bytes, 1), (std::size_t{1} << 40) - 1));
  CHECK_FALSE(CarriedPuts::fits(numbers(CarriedLine::room_bytes + 1, 1), 0));
  CHECK_FALSE(CarriedPuts::fits(numbers(8, 1), std::size_t{1} << 40));
}

TEST_CASE("heads that no rank of ours writes are refused, and nothing is written") {
  constexpr std::uint64_t other_sends = 2;
  for (const std::uint64_t head : {other_sends | 16 << 8,                    // no such signal
                                   other_sends | 57 << 16,                   // too long
                                   other_sends | 8 << 16 | 249U << 24,       // over the end
                                   other_sends | std::uint64_t{1} << 63}) {  // far outside
    Two two;
    two.first.carry({}, 0, 0);
    two.line.head = head;
    CHECK_THROWS_AS(two.first.take(two.at_first), std::runtime_error);
    CHECK(two.at_first == Memory{});
  }
}

TEST_CASE("two threads that answer each other see every put whole") {
  constexpr int rounds = 5000;
  Two two;
  const auto answers = [](CarriedPuts& own, Memory& memory, bool begins) {
    bool right = true;
    for (int i = 0; i < rounds; ++i) {
      if (begins) own.carry(numbers(56, i), 8, i % 16);
      for (std::optional<int> came; !(came = own.take(memory));) std::this_thread::yield();
      right = right && lies_in(memory, 8, numbers(56, i));
      if (!begins) own.carry(numbers(56, i), 8, i % 16);
    }
    return right;
  };
  bool other_right = false;
  std::thread other([&] { other_right = answers(two.other, two.at_other, false); });
  const bool first_right = answers(two.first, two.at_first, true);
  other.join();
  CHECK(first_right);
  CHECK(other_right);
}

}  // namespace nhalf
