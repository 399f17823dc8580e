#include "transports/am/channel.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

using namespace nhalf::am;

namespace {

/// Both ends of the slots of one rank in the memory of another.
struct Ends {
  Layout layout{.slots = 3, .medium_bytes = 64};
  std::vector<std::byte> memory = std::vector<std::byte>(layout.command_bytes() + 64);
  Outgoing out{.channel = Channel(layout, lines(), 1)};
  Incoming in{.channel = Channel(layout, lines(), 1)};

  std::byte* lines() {
    const auto at = reinterpret_cast<std::uintptr_t>(memory.data());
    return memory.data() + (64 - at % 64) % 64;
  }
  void send() {
    out.choose_slot();
    out.channel.line(out.slot).write(Channel::asked(out.sent), Kind::short_message, 0, {});
    ++out.sent;
  }
  void answer() {
    in.channel.line(in.slot).write(Channel::answered(in.served), Kind::done, 0, {});
    ++in.served;
  }
};

}  // namespace

TEST_CASE("a slot is used again when its request was handled, else the one behind it") {
  Ends ends;
  for (int i = 0; i < 10; ++i) {
    ends.send();
    CHECK(ends.out.slot == 0);
    REQUIRE(ends.in.find());
    ends.answer();
    CHECK_FALSE(ends.in.find());
    ++ends.out.settled;
  }
  for (const std::size_t slot : {0U, 1U, 2U}) {
    CHECK(ends.out.has_room());
    ends.send();
    CHECK(ends.out.slot == slot);
    CHECK(ends.out.first_slot() == 0);
  }
  CHECK_FALSE(ends.out.has_room());
}

TEST_CASE("the receiver finds requests in their order, round and round") {
  Ends ends;
  for (int round = 0; round < 5; ++round) {
    ends.send();
    ends.send();
    for (int i = 0; i < 2; ++i) {
      REQUIRE(ends.in.find());
      CHECK(ends.in.slot == ends.out.first_slot());
      ends.answer();
      ++ends.out.settled;
    }
    CHECK_FALSE(ends.in.find());
  }
}
