// SPDX-License-Identifier: Apache-2.0
#include "fabric/looks.hpp"

#include <doctest/doctest.h>

#include "fabric/message.hpp"
#include "fabric/region_of_test.hpp"

namespace {

using nhalf::fabric::Inbox;
using nhalf::fabric::Message;
using nhalf::fabric::never;
using nhalf::fabric::Presence;
using nhalf::fabric::Region;
using nhalf::fabric::RegionOfTest;

/// Rank 0 looks, rank 1 waits, rank 2 has ended.
void begin(Region& region) {
  region.members[0].presence = region.members[1].presence = Presence::active;
  region.members[2].presence = Presence::left;
  region.next[0] = 5000;
  region.slots[0].has_looked_long = 1;
  region.next[1] = region.next[2] = never;
  region.slots[1].is_idle = 1;
}

TEST_CASE("nothing can happen where all wait or have looked long") {
  RegionOfTest memory(0);
  auto& region = *memory.region;
  begin(region);
  CHECK(nhalf::fabric::can_nothing_happen(region, 3));
  region.slots[0].has_looked_long = 0;
  CHECK_FALSE(nhalf::fabric::can_nothing_happen(region, 3));
}

TEST_CASE("a message on its way is something that happens") {
  RegionOfTest memory(4096);
  auto& region = *memory.region;
  begin(region);
  auto& message = region.at<Message>(sizeof(Region) / 4096 * 4096 + 4096);
  message = Message{};
  message.arrival = 9000;
  Inbox(region, 1).put(message);
  CHECK_FALSE(nhalf::fabric::can_nothing_happen(region, 3));
}

TEST_CASE("ranks that wait without an event poll once more, others keep their time") {
  RegionOfTest memory(0);
  auto& region = *memory.region;
  begin(region);
  nhalf::fabric::let_all_poll(region, 3, 6000);
  CHECK(region.next[0] == 5000);
  CHECK(region.next[1] == 6000);
  CHECK(region.next[2] == never);
}

}  // namespace
