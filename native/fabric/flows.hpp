// SPDX-License-Identifier: Apache-2.0
// The network in virtual time: messages leave their rank one after the other, and those that are on
// the same link at once share it. Each begins and ends at an event of its own; whoever hands over
// the turn lets the events before the next rank's happen, so that they need no process.
//
// A message streams for as long as its bytes take alone, or longer where links give it less, and
// arrives the rest of its time later.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <vector>

#include "fabric/heap.hpp"
#include "fabric/inbox.hpp"
#include "fabric/machine/routes.hpp"
#include "fabric/max_min.hpp"
#include "fabric/message.hpp"
#include "fabric/picoseconds.hpp"
#include "fabric/region.hpp"
#include "fabric/stop_run.hpp"

namespace nhalf::fabric {

class Flows {
 public:
  Flows(Region& region, Heap& heap, const Routes& routes, int ranks)
      : region_(region), heap_(heap), routes_(routes), ranks_(static_cast<std::size_t>(ranks)) {}

  /// Prepares for the first message; once, before any rank goes on.
  void begin() {
    region_.flow_events.fill(never);
    region_.pairs = allocated(ranks_ * ranks_ * sizeof(Pair));
    region_.loads = allocated(routes_.count() * sizeof(Load));
  }

  /// Takes a message that is ready to leave its rank.
  void add(Message& message) {
    const auto rank = message.source.rank;
    auto& slot = region_.slots[rank];
    const auto place = region_.offset_of(&message);
    message.following = 0;
    message.flow.has_begun = false;
    if (slot.outgoing_first == 0) {
      slot.outgoing_first = slot.outgoing_last = place;
      region_.flow_events[rank] = std::max(message.flow.ready, slot.outgoing_free);
    } else if (auto& last = region_.at<Message>(slot.outgoing_last);
               last.flow.ready <= message.flow.ready) {
      last.following = slot.outgoing_last = place;
    } else {
      add_before_later(message);
    }
  }

  /// Returns when the next message begins or ends.
  [[nodiscard]] Picoseconds due() {
    // Whatever begins and ends at one time changes the shares once.
    if (region_.shares_changed != 0 && *next() > region_.shares_changed) share();
    return *next();
  }
  /// Lets it begin or end.
  void step() {
    const auto* event = next();
    const auto now = *event;
    const auto rank = static_cast<std::size_t>(event - region_.flow_events.data());
    auto& message = region_.at<Message>(region_.slots[rank].outgoing_first);
    if (!message.flow.has_begun && start(message, now)) return;
    end(message, now);
  }

 private:
  /// A share of all that a message moves alone.
  static constexpr std::uint64_t whole = std::uint64_t{1} << 32;

  /// What is kept of two ranks.
  struct Pair {
    Picoseconds last_arrival;
    Offset way;
    std::uint64_t length;
  };

  [[nodiscard]] const Picoseconds* next() const {
    const auto* events = region_.flow_events.data();
    return std::min_element(events, events + ranks_);
  }
  Offset allocated(std::uint64_t bytes) {
    const auto place = heap_.take(std::max<std::uint64_t>(bytes, 1));
    if (place == 0) stop(region_, "memory", "the links of this machine fill the memory");
    return place;
  }
  Pair& pair_of(const Message& message) {
    return (&region_.at<Pair>(region_.pairs))[message.source.rank * ranks_ + message.target];
  }
  Load* loads() { return &region_.at<Load>(region_.loads); }
  Message& head_of(std::size_t rank) {
    return region_.at<Message>(region_.slots[rank].outgoing_first);
  }

  /// An answer from a rank's memory leaves before what the rank, which runs ahead, sends later.
  void add_before_later(Message& message) {
    const auto rank = message.source.rank;
    auto& slot = region_.slots[rank];
    Offset* before = &slot.outgoing_first;
    while (region_.at<Message>(*before).flow.has_begun ||
           region_.at<Message>(*before).flow.ready <= message.flow.ready) {
      before = &region_.at<Message>(*before).following;
      if (*before == 0) break;
    }
    const bool is_first = before == &slot.outgoing_first;
    message.following = *before;
    *before = region_.offset_of(&message);
    if (message.following == 0) slot.outgoing_last = *before;
    if (is_first) region_.flow_events[rank] = std::max(message.flow.ready, slot.outgoing_free);
  }

  /// Returns what a message passes, found once for two ranks.
  std::span<const Link> way_of(const Message& message) {
    auto& pair = pair_of(message);
    if (pair.way == 0) {
      const auto way =
          routes_.between(static_cast<int>(message.source.rank), static_cast<int>(message.target));
      pair.length = way.size();
      pair.way = allocated(way.size() * sizeof(Link));
      std::copy(way.begin(), way.end(), &region_.at<Link>(pair.way));
      for (const auto link : way) loads()[link].capacity_Bps = routes_.capacity_Bps(link);
    }
    return {&region_.at<Link>(pair.way), pair.length};
  }

  /// Lets a message begin; false if it is over at once.
  bool start(Message& message, Picoseconds now) {
    auto& flow = message.flow;
    flow.has_begun = true;
    flow.began = flow.updated = now;
    flow.share = whole;
    flow.demand_Bps = 0;
    Inbox(region_, static_cast<int>(message.target)).expect(now + flow.latency, message.busy);
    if (flow.work == 0) return false;
    flow.work_left = static_cast<Work>(flow.work) << 32;
    region_.flow_events[message.source.rank] = now + flow.work;
    const auto way = way_of(message);
    flow.demand_Bps = demand_of(message, way);
    if (flow.demand_Bps == 0) return true;
    bool is_short = false;
    for (const auto link : way) {
      auto& load = loads()[link];
      load.demand_Bps += flow.demand_Bps;
      is_short = is_short || load.is_short();
    }
    if (is_short) region_.shares_changed = now;
    return true;
  }
  /// Returns bytes per second of a message alone; 0 if it shares nothing. A link is as wide as a
  /// message alone needs it.
  std::uint64_t demand_of(const Message& message, std::span<const Link> way) {
    if (way.empty() || message.size_bytes == 0) return 0;
    auto demand_Bps = static_cast<std::uint64_t>(static_cast<Work>(message.size_bytes) *
                                                 1'000'000'000'000u / message.flow.work);
    for (const auto link : way) {
      const auto times = static_cast<std::uint64_t>(std::count(way.begin(), way.end(), link));
      demand_Bps = std::min(demand_Bps, loads()[link].capacity_Bps / times);
    }
    return std::max<std::uint64_t>(demand_Bps, 1);
  }

  void end(Message& message, Picoseconds now) {
    const auto& flow = message.flow;
    const auto rank = message.source.rank;
    auto& slot = region_.slots[rank];
    slot.outgoing_free = std::max(now, flow.began + message.busy);
    slot.outgoing_first = message.following;
    region_.flow_events[rank] =
        message.following == 0 ? never : std::max(head_of(rank).flow.ready, slot.outgoing_free);
    if (flow.demand_Bps > 0) leave_links(message, now);
    if (flow.departure != 0) {
      region_.at<Departure>(flow.departure).at = slot.outgoing_free;
      wake(rank, slot.outgoing_free);
    }
    // Messages of a pair do not overtake each other, whatever the curve says of their sizes.
    auto& last = pair_of(message).last_arrival;
    last = message.arrival = std::max(last, now + flow.latency);
    Inbox inbox(region_, static_cast<int>(message.target));
    inbox.put(message);
    auto& receiver = region_.slots[message.target];
    receiver.accesses += message.is_access ? 1 : 0;
    if (receiver.accesses > 0)
      serve_at(message.target, inbox.due());
    else
      wake(message.target, inbox.due());
  }
  /// Memory is reached at its time, whatever its rank does until then.
  void serve_at(std::uint32_t rank, Picoseconds time) {
    if (has_left(region_.members[rank].presence)) return;
    region_.next[rank] = std::min(region_.next[rank], time);
  }
  void leave_links(const Message& message, Picoseconds now) {
    bool was_short = false;
    for (const auto link : way_of(message)) {
      auto& load = loads()[link];
      was_short = was_short || load.is_short();
      load.demand_Bps -= message.flow.demand_Bps;
    }
    if (was_short) region_.shares_changed = now;
  }
  void wake(std::uint32_t rank, Picoseconds time) {
    auto& next = region_.next[rank];
    if (region_.slots[rank].is_idle != 0)
      next = std::min(next, std::max(time, region_.members[rank].now));
  }

  /// Gives every message that streams its share since they changed.
  void share() {
    const auto now = region_.shares_changed;
    region_.shares_changed = 0;
    sharers_.clear();
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      if (region_.slots[rank].outgoing_first == 0) continue;
      const auto& message = head_of(rank);
      if (message.flow.has_begun && message.flow.demand_Bps > 0)
        sharers_.push_back({way_of(message), message.flow.demand_Bps, 0, rank});
    }
    max_min_.share(sharers_, loads());
    for (const auto& sharer : sharers_) {
      const auto part = (static_cast<Work>(sharer.rate_Bps) << 32) / sharer.demand_Bps;
      set_share(sharer.rank, head_of(sharer.rank).flow, static_cast<std::uint64_t>(part), now);
    }
  }
  void set_share(std::uint32_t rank, Flow& flow, std::uint64_t part, Picoseconds now) {
    if (part == flow.share) return;
    flow.work_left -= std::min(flow.work_left, static_cast<Work>(now - flow.updated) * flow.share);
    flow.updated = now;
    flow.share = part;
    region_.flow_events[rank] = now + static_cast<Picoseconds>((flow.work_left + part - 1) / part);
  }

  Region& region_;
  Heap& heap_;
  const Routes& routes_;
  std::size_t ranks_;
  MaxMin max_min_;
  std::vector<Sharer> sharers_;
};

}  // namespace nhalf::fabric
