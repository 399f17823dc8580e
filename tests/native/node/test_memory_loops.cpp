#include "node/memory_loops.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace nhalf;

TEST_CASE("a chase visits every node once before it begins again") {
  for (const char* axes : {"stride=64", "stride=4096,skew=64", "stride=4096,shift=128"}) {
    CAPTURE(axes);
    const Case point{.size_bytes = 64 * 4096, .axes = Options::parse(axes, ',')};
    const auto places = chase_places(point);
    Region region(places.span_bytes(), false);
    link_nodes(region.data(), places, 3);
    std::set<void*> visited;
    void* here = region.data() + places.offset_bytes(0);
    for (std::size_t i = 0; i < places.count; ++i) {
      visited.insert(here);
      here = *static_cast<void**>(here);
    }
    CHECK(visited.size() == places.count);
    CHECK(here == region.data() + places.offset_bytes(0));
    NodeChase chase(point, region);
    CHECK(chase.verify());
  }
}

TEST_CASE("every second node is shifted") {
  const Case point{.size_bytes = 4 * 1024, .axes = Options::parse("stride=1024,shift=64", ',')};
  const auto places = chase_places(point);
  CHECK(places.offset_bytes(2) == 2048);
  CHECK(places.offset_bytes(3) == 3072 + 64);
}

TEST_CASE("what cannot be laid out is refused") {
  for (const char* axes : {"stride=0", "stride=12", "stride=64,shift=64", "stride=8192"}) {
    CAPTURE(axes);
    const Case point{.size_bytes = 4096, .axes = Options::parse(axes, ',')};
    CHECK_THROWS_AS(chase_places(point), InputError);
  }
}
