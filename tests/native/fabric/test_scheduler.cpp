#include "fabric/scheduler.hpp"

#include <doctest/doctest.h>

#include "fabric/region_of_test.hpp"

namespace {

using nhalf::fabric::Flows;
using nhalf::fabric::Heap;
using nhalf::fabric::RegionOfTest;
using nhalf::fabric::Routes;
using nhalf::fabric::Scheduler;

TEST_CASE("ranks are at rest once each has had its turn twice without an event") {
  RegionOfTest memory(1 << 20);
  Heap heap(memory.region->network, memory.network_bytes());
  const Routes routes;
  Flows flows(*memory.region, heap, routes, 2);
  Scheduler scheduler(*memory.region, flows, 0, 2);
  for (int turn = 0; turn < 4; ++turn) {
    scheduler.quiet_ns();
    CHECK(!scheduler.has_gone_round());
  }
  scheduler.quiet_ns();
  CHECK(scheduler.has_gone_round());
  SUBCASE("a call of MPI is an event") {
    scheduler.note_event();
  }
  SUBCASE("so is a message") {
    ++memory.region->messages;
  }
  scheduler.quiet_ns();
  CHECK(!scheduler.has_gone_round());
}

}  // namespace
