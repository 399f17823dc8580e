// A virtual network with its ranks in this process, where messages move when a test asks for it.
#pragma once

#include <cstddef>

#include "fabric/accesses.hpp"
#include "fabric/endpoint.hpp"
#include "fabric/flows.hpp"
#include "fabric/region_of_test.hpp"
#include "fabric/sender.hpp"
#include "network/heap.hpp"
#include "network/picoseconds.hpp"
#include "network/wires.hpp"

namespace nhalf::fabric {

/// Three nodes: 10 ps at the sender, 20 ps at the receiver, 500 ps for an empty message, and 2 ps
/// for each byte.
class NetworkOfTest {
 public:
  static constexpr Picoseconds send = 10;
  static constexpr Picoseconds receive = 20;
  static constexpr Picoseconds empty = 500;
  static constexpr Picoseconds transit = empty - send - receive;
  static constexpr Picoseconds per_byte = 2;

  NetworkOfTest() { flows.begin(); }

  /// Lets all messages arrive, and takes the first one of a rank.
  Message& delivered(int rank) {
    while (flows.due() != never) flows.step();
    return Inbox(region, rank).take();
  }
  [[nodiscard]] Member& member(int rank) { return region.members[static_cast<std::size_t>(rank)]; }

 private:
  RegionOfTest memory_{1 << 24};

 public:
  Region& region = *memory_.region;
  Heap heap{region.network, memory_.network_bytes()};
  Wires wires = *Wires::read("nodes 0 1 2\nwire 0 10 20 0\npart 0 500 2000000 0\n");
  Flows flows{region, heap, wires.routes, wires.ranks()};
};

struct RankOfTest {
  RankOfTest(NetworkOfTest& network, int number)
      : sender(network.region, network.heap, network.flows, network.wires, delay, number) {}

  Delay delay;
  Sender sender;
  Endpoints endpoints;
  Accesses accesses;
  Serving serving{accesses, sender, endpoints};
};

}  // namespace nhalf::fabric
