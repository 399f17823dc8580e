// The network between the ranks of a region: what its messages mean to those that wait for them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "fabric/message.hpp"
#include "fabric/region.hpp"
#include "fabric/stop_run.hpp"
#include "network/flows.hpp"
#include "network/inbox.hpp"

namespace nhalf::fabric {

/// Messages on their way to a rank, in the order in which they arrive.
class Inbox : public network::Inbox {
 public:
  Inbox(Region& region, int rank) : network::Inbox(region.network, rank) {}

  Message& take() { return static_cast<Message&>(network::Inbox::take()); }
};

/// Wakes ranks, so that whoever hands over the turn lets events happen and they need no process.
class WokenRanks {
 public:
  explicit WokenRanks(Region& region) : region_(region) {}

  void departed(const network::Message& carried, Picoseconds time) {
    const auto& message = static_cast<const Message&>(carried);
    if (message.departure == 0) return;
    region_.at<Departure>(message.departure).at = time;
    wake(message.source.rank, time);
  }
  void arrived(const network::Message& carried, Picoseconds due) {
    const auto& message = static_cast<const Message&>(carried);
    auto& receiver = region_.slots[message.target];
    receiver.accesses += message.is_access ? 1 : 0;
    if (receiver.accesses > 0)
      serve_at(message.target, due);
    else
      wake(message.target, due);
  }
  [[noreturn]] void run_out_of_memory() {
    stop(region_, "memory", "the links of this machine fill the memory");
  }

 private:
  /// Memory is reached at its time, whatever its rank does until then.
  void serve_at(std::uint32_t rank, Picoseconds time) {
    if (has_left(region_.members[rank].presence)) return;
    region_.next[rank] = std::min(region_.next[rank], time);
  }
  void wake(std::uint32_t rank, Picoseconds time) {
    auto& next = region_.next[rank];
    if (region_.slots[rank].is_idle != 0)
      next = std::min(next, std::max(time, region_.members[rank].now));
  }

  Region& region_;
};

class Flows : public network::Flows<WokenRanks> {
 public:
  Flows(Region& region, Heap& heap, const Routes& routes, int ranks)
      : network::Flows<WokenRanks>(region.network, heap, routes, ranks, WokenRanks(region)) {}
};

}  // namespace nhalf::fabric
