// Ranks that are threads, with active messages between them: for tests.
#pragma once

#include <barrier>
#include <cstddef>
#include <thread>
#include <utility>
#include <vector>

#include "transports/am/endpoint.hpp"

namespace nhalf::am {

using Rank = Endpoint;

/// Lets others run soon, for ranks may outnumber cores.
inline Patience crowded() {
  return {PeerWatch{}, true};
}

/// Runs body(rank, meet) on every rank, where meet() returns when all have called it. All leave
/// together, since peers look at their memory.
template <class Body>
void on_team(const Layout& layout, const Habits& habits, Body body) {
  const Patience patience = crowded();
  const auto ranks = static_cast<std::ptrdiff_t>(layout.ranks);
  std::vector<Exported> everyone(layout.ranks);
  std::barrier meeting(ranks);
  std::vector<std::jthread> threads;
  for (std::size_t rank = 0; rank < layout.ranks; ++rank) {
    threads.emplace_back([&, rank] {
      Peers peers(layout, static_cast<int>(rank));
      everyone[rank] = peers.exported();
      meeting.arrive_and_wait();
      peers.learn(everyone);
      Rank mine(std::move(peers), habits, patience);
      meeting.arrive_and_wait();
      body(mine, [&] { meeting.arrive_and_wait(); });
      meeting.arrive_and_wait();
    });
  }
}

}  // namespace nhalf::am
