#include "fabric/flows.hpp"

#include <doctest/doctest.h>

#include <cstring>

#include "fabric/message.hpp"
#include "fabric/region_of_test.hpp"
#include "network/heap.hpp"

namespace {

using nhalf::fabric::Doing;
using nhalf::fabric::Inbox;
using nhalf::fabric::Message;
using nhalf::fabric::never;
using nhalf::fabric::Presence;
using nhalf::fabric::Region;
using nhalf::fabric::RegionOfTest;

void set(RegionOfTest& memory, std::size_t rank, const char* call, int peer, int tag) {
  auto& doing = memory.region->slots[rank].doing;
  std::strncpy(doing.call.data(), call, doing.call.size() - 1);
  doing.peer = peer;
  doing.tag = tag;
  doing.is_world = 1;
  memory.region->members[rank].presence = Presence::active;
}

TEST_CASE("who waits for whom is said in words") {
  RegionOfTest memory(0);
  set(memory, 0, "MPI_Recv", 1, 7);
  set(memory, 1, "MPI_Barrier", Doing::none, Doing::none);
  set(memory, 2, "MPI_Wait", Doing::any, Doing::any);
  memory.region->members[3].presence = Presence::left;
  CHECK(nhalf::fabric::who_waits(*memory.region, 4) ==
        "rank 0 waits in MPI_Recv for rank 1, tag 7; rank 1 waits in MPI_Barrier; "
        "rank 2 waits in MPI_Wait for any rank, any tag; ended: 1 of 4");
  memory.region->slots[0].doing.is_world = 0;
  CHECK(nhalf::fabric::who_waits(*memory.region, 1) ==
        "rank 0 waits in MPI_Recv for rank 1 of its communicator, tag 7");
}

TEST_CASE("of many ranks the first are described") {
  RegionOfTest memory(0);
  for (std::size_t rank = 0; rank < 20; ++rank) set(memory, rank, "MPI_Barrier", Doing::none, 0);
  CHECK(nhalf::fabric::who_waits(*memory.region, 20).ends_with("; and 12 more"));
}

TEST_CASE("ranks that start or end are not the program's") {
  RegionOfTest memory(0);
  set(memory, 0, "MPI_Init", Doing::none, Doing::none);
  CHECK(nhalf::fabric::is_outside_program(*memory.region, 1));
  set(memory, 1, "MPI_Recv", 0, 1);
  CHECK_FALSE(nhalf::fabric::is_outside_program(*memory.region, 2));
}

/// Rank 0 polls, rank 1 waits, rank 2 has ended.
void begin(Region& region) {
  region.members[0].presence = region.members[1].presence = Presence::active;
  region.members[2].presence = Presence::left;
  region.next[0] = 5000;
  region.slots[0].has_polled_long = 1;
  region.next[1] = region.next[2] = never;
  region.slots[1].is_idle = 1;
}

TEST_CASE("nothing can happen where all wait or have polled long") {
  RegionOfTest memory(0);
  auto& region = *memory.region;
  begin(region);
  CHECK(nhalf::fabric::can_nothing_happen(region, 3));
  region.slots[0].has_polled_long = 0;
  CHECK_FALSE(nhalf::fabric::can_nothing_happen(region, 3));
}

TEST_CASE("a message on its way is something that happens") {
  RegionOfTest memory(8192);
  auto& region = *memory.region;
  begin(region);
  nhalf::network::Heap heap(region.network, memory.network_bytes());
  auto& message = region.at<Message>(heap.take(sizeof(Message)));
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
