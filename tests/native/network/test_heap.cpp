#include "network/heap.hpp"

#include <doctest/doctest.h>

#include <set>

#include "network/memory.hpp"

namespace {

using nhalf::network::Heap;
using nhalf::network::Memory;
using nhalf::network::Offset;

TEST_CASE("every size has the smallest kind that holds it") {
  for (std::size_t bytes = 1; bytes < 5000; ++bytes) {
    const auto kind = Heap::kind_of(bytes);
    CHECK(Heap::size_of(kind) >= bytes);
    if (kind > 0) CHECK(Heap::size_of(kind - 1) < bytes);
  }
  CHECK(Heap::size_of(0) == 64);
  CHECK(Heap::size_of(Heap::kind_of(65)) == 80);
  CHECK(Heap::size_of(Heap::kind_of(std::size_t{1} << 40)) == std::size_t{1} << 40);
}

TEST_CASE("memory is given once until it comes back, also to another process") {
  Memory memory(1 << 16);
  Heap heap(memory.state(), memory.bytes());
  std::set<Offset> places;
  while (const Offset place = heap.take(1000)) CHECK(places.insert(place).second);
  CHECK(places.size() == (1 << 16) / 1024);
  heap.give_back(*places.begin(), 1000);
  Heap again(memory.state(), memory.bytes());
  CHECK(again.take(900) == *places.begin());
  CHECK(again.take(900) == 0);
}

}  // namespace
