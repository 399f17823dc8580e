// The network in virtual time: messages leave their rank one after the other, and those that are on
// the same link at once share it. Each begins and ends at an event of its own; whoever hands over
// the turn lets the events before the next rank's happen, so that they need no process.
//
// A message streams for as long as its bytes take alone, or longer where links give it less, and
// arrives the rest of its time later.
#pragma once

#include <algorithm>
#include <new>

#include "network/heap.hpp"
#include "network/max_min.hpp"
#include "network/message.hpp"
#include "network/wires.hpp"

namespace nhalf::network {
// Messages on their way to a rank, in the order in which they arrive. They come in one after the
// other: a message that arrives while another one does is there later.
class Inbox {
 public:
  Inbox(State& state, int rank)
      : state_(state), port_(state.ports[static_cast<std::size_t>(rank)]) {}

  void put(Message& message) {
    const Offset place = state_.offset_of(&message);
    message.following = 0;
    if (port_.incoming_first == 0) {
      port_.incoming_first = port_.incoming_last = place;
    } else if (auto& last = state_.at<Message>(port_.incoming_last);
               last.arrival <= message.arrival) {
      last.following = port_.incoming_last = place;
    } else {
      Offset* before = &port_.incoming_first;
      while (state_.at<Message>(*before).arrival <= message.arrival)
        before = &state_.at<Message>(*before).following;
      message.following = *before;
      *before = place;
    }
  }

  /// Counts a message that begins to come in, and keeps the way for this long if it is alone there.
  void expect(Picoseconds begin, Picoseconds busy) {
    port_.incoming_free = std::max(port_.incoming_free, begin) + busy;
  }

  /// Returns when the first message is there; never without one. What came in beside others need
  /// not come in again.
  [[nodiscard]] Picoseconds due() const {
    if (port_.incoming_first == 0) return never;
    const auto& message = state_.at<Message>(port_.incoming_first);
    const auto behind = std::min(port_.incoming_at + message.busy_in, port_.incoming_free);
    return std::max(message.arrival, behind);
  }

  /// Takes the first message, whose arrival is now when it was there.
  Message& take() {
    auto& message = state_.at<Message>(port_.incoming_first);
    message.arrival = port_.incoming_at = due();
    port_.incoming_first = message.following;
    if (port_.incoming_first == 0) port_.incoming_last = 0;
    return message;
  }

 private:
  State& state_;
  Port& port_;
};

/// Gives a message of a size its times, from the moment at which it may leave its rank. Its bytes
/// take no longer than messages of one rank were seen to be apart.
inline void set_times(Message& message, const Wire& wire, Picoseconds ready) {
  const auto bytes = message.size_bytes;
  message.busy_out = wire.busy_out(bytes);
  message.busy_in = wire.busy_in(bytes);
  message.flow.ready = ready;
  message.flow.work = std::min({wire.streams(bytes), wire.transit(bytes), message.busy_out});
  message.flow.latency = wire.transit(bytes) - message.flow.work;
  message.flow.against = wire.against(bytes);
}

/// `Ranks` hears of the messages: `departed(message, time)` when one has left its rank,
/// `arrived(message, due)` when it has come in and the first of those that wait there is due, and
/// `run_out_of_memory()`, which does not return.
template <class Ranks>
class Flows {
 public:
  Flows(State& state, Heap& heap, const Routes& routes, int count, Ranks ranks)
      : state_(state),
        heap_(heap),
        routes_(routes),
        count_(static_cast<std::size_t>(count)),
        ranks_(ranks) {}

  /// Prepares for the first message; once, before any rank goes on.
  void begin() {
    state_.flow_events.fill(never);
    state_.pairs = allocated(count_ * count_ * sizeof(Pair));
    state_.loads = allocated(routes_.count() * sizeof(Load));
  }

  /// Takes a message that is ready to leave its rank.
  void add(Message& message) {
    const auto rank = message.source.rank;
    auto& port = state_.ports[rank];
    const auto place = state_.offset_of(&message);
    message.following = 0;
    message.flow.has_begun = false;
    if (port.outgoing_first == 0) {
      port.outgoing_first = port.outgoing_last = place;
      state_.flow_events[rank] = std::max(message.flow.ready, port.outgoing_free);
    } else if (auto& last = state_.at<Message>(port.outgoing_last);
               last.flow.ready <= message.flow.ready) {
      last.following = port.outgoing_last = place;
    } else {
      add_before_later(message);
    }
  }

  /// Returns when the next message begins or ends.
  [[nodiscard]] Picoseconds due() {
    // Whatever begins and ends at one time changes the shares once.
    if (state_.shares_changed != 0 && *next() > state_.shares_changed) share();
    return *next();
  }
  /// Returns how many shares of messages have been computed, which is what long runs spend time on.
  [[nodiscard]] std::uint64_t shares() const { return shares_; }

  /// Lets it begin or end.
  void step() {
    const auto* event = next();
    const auto now = *event;
    const auto rank = static_cast<std::size_t>(event - state_.flow_events.data());
    auto& message = state_.at<Message>(state_.ports[rank].outgoing_first);
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
    const auto* events = state_.flow_events.data();
    return std::min_element(events, events + count_);
  }
  Offset allocated(std::uint64_t bytes) {
    const auto place = heap_.take(std::max<std::uint64_t>(bytes, 1));
    if (place == 0) ranks_.run_out_of_memory();
    return place;
  }
  Pair& pair_of(const Message& message) {
    return (&state_.at<Pair>(state_.pairs))[message.source.rank * count_ + message.target];
  }
  Load* loads() { return &state_.at<Load>(state_.loads); }
  Message& head_of(std::size_t rank) {
    return state_.at<Message>(state_.ports[rank].outgoing_first);
  }

  /// An answer from a rank's memory leaves before what the rank, which runs ahead, sends later.
  void add_before_later(Message& message) {
    const auto rank = message.source.rank;
    auto& port = state_.ports[rank];
    Offset* before = &port.outgoing_first;
    while (state_.at<Message>(*before).flow.has_begun ||
           state_.at<Message>(*before).flow.ready <= message.flow.ready) {
      before = &state_.at<Message>(*before).following;
      if (*before == 0) break;
    }
    const bool is_first = before == &port.outgoing_first;
    message.following = *before;
    *before = state_.offset_of(&message);
    if (message.following == 0) port.outgoing_last = *before;
    if (is_first) state_.flow_events[rank] = std::max(message.flow.ready, port.outgoing_free);
  }

  /// Returns what a message passes, found once for two ranks.
  std::span<const Link> way_of(const Message& message) {
    auto& pair = pair_of(message);
    if (pair.way == 0) {
      const auto way =
          routes_.between(static_cast<int>(message.source.rank), static_cast<int>(message.target));
      pair.length = way.size();
      pair.way = allocated(way.size() * sizeof(Link));
      std::copy(way.begin(), way.end(), &state_.at<Link>(pair.way));
      for (const auto link : way) loads()[link].capacity_Bps = routes_.capacity_Bps(link);
    }
    return {&state_.at<Link>(pair.way), pair.length};
  }

  /// Lets a message begin; false if it is over at once.
  bool start(Message& message, Picoseconds now) {
    auto& flow = message.flow;
    flow.has_begun = true;
    flow.began = flow.updated = now;
    flow.share = whole;
    flow.demand_Bps = 0;
    Inbox(state_, static_cast<int>(message.target)).expect(now + flow.latency, message.busy_in);
    if (flow.work == 0) return false;
    flow.work_left = static_cast<Work>(flow.work) << 32;
    state_.flow_events[message.source.rank] = now + flow.work;
    const auto way = way_of(message);
    flow.demand_Bps = demand_of(message, way);
    if (flow.demand_Bps == 0) return true;
    count_ways(message, 1, now);
    bool is_short = false;
    for (const auto link : way) {
      auto& load = loads()[link];
      load.demand_Bps += flow.demand_Bps;
      is_short = is_short || load.is_short();
    }
    if (is_short) state_.shares_changed = now;
    return true;
  }
  /// Counts a message that streams, or takes it off; messages the other way notice.
  void count_ways(const Message& message, std::uint32_t change, Picoseconds now) {
    if (message.flow.against == 0) return;
    state_.ports[message.source.rank].streaming_out += change;
    state_.ports[message.target].streaming_in += change;
    if (is_against(message)) state_.shares_changed = now;
  }
  /// Whether messages pass the other way at either end.
  [[nodiscard]] bool is_against(const Message& message) const {
    return state_.ports[message.source.rank].streaming_in > 0 ||
           state_.ports[message.target].streaming_out > 0;
  }
  /// Returns bytes per second of a message alone; 0 if it shares nothing. A link is as wide as a
  /// message alone needs it.
  std::uint64_t demand_of(const Message& message, std::span<const Link> way) {
    if ((way.empty() && message.flow.against == 0) || message.size_bytes == 0) return 0;
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
    auto& port = state_.ports[rank];
    port.outgoing_free = std::max(now, flow.began + message.busy_out);
    port.outgoing_first = message.following;
    state_.flow_events[rank] =
        message.following == 0 ? never : std::max(head_of(rank).flow.ready, port.outgoing_free);
    if (flow.demand_Bps > 0) {
      count_ways(message, ~std::uint32_t{0}, now);
      leave_links(message, now);
    }
    ranks_.departed(message, now);
    // Messages of a pair do not overtake each other, whatever the curve says of their sizes.
    auto& last = pair_of(message).last_arrival;
    last = message.arrival = std::max(last, now + flow.latency);
    Inbox inbox(state_, static_cast<int>(message.target));
    inbox.put(message);
    ranks_.arrived(message, inbox.due());
  }
  void leave_links(const Message& message, Picoseconds now) {
    bool was_short = false;
    for (const auto link : way_of(message)) {
      auto& load = loads()[link];
      was_short = was_short || load.is_short();
      load.demand_Bps -= message.flow.demand_Bps;
    }
    if (was_short) state_.shares_changed = now;
  }
  /// Gives every message that streams its share since they changed.
  void share() {
    const auto now = state_.shares_changed;
    state_.shares_changed = 0;
    sharers_.clear();
    for (std::uint32_t rank = 0; rank < count_; ++rank) {
      if (state_.ports[rank].outgoing_first == 0) continue;
      const auto& message = head_of(rank);
      if (message.flow.has_begun && message.flow.demand_Bps > 0)
        sharers_.push_back({way_of(message), demand_now(message), 0, rank});
    }
    shares_ += sharers_.size();
    max_min_.share(sharers_, loads());
    for (const auto& sharer : sharers_) {
      auto& flow = head_of(sharer.rank).flow;
      const auto part = (static_cast<Work>(sharer.rate_Bps) << 32) / flow.demand_Bps;
      set_share(sharer.rank, flow, static_cast<std::uint64_t>(part), now);
    }
  }
  /// Returns bytes per second that a message moves beside those the other way.
  [[nodiscard]] std::uint64_t demand_now(const Message& message) const {
    const auto& flow = message.flow;
    if (flow.against == 0 || !is_against(message)) return flow.demand_Bps;
    const auto slowed_Bps = static_cast<Work>(flow.demand_Bps) * flow.work;
    return std::max<std::uint64_t>(
        static_cast<std::uint64_t>(slowed_Bps / (flow.work + flow.against)), 1);
  }
  void set_share(std::uint32_t rank, Flow& flow, std::uint64_t part, Picoseconds now) {
    if (part == flow.share) return;
    flow.work_left -= std::min(flow.work_left, static_cast<Work>(now - flow.updated) * flow.share);
    flow.updated = now;
    flow.share = part;
    state_.flow_events[rank] = now + static_cast<Picoseconds>((flow.work_left + part - 1) / part);
  }

  State& state_;
  Heap& heap_;
  const Routes& routes_;
  std::size_t count_;
  Ranks ranks_;
  MaxMin max_min_;
  std::vector<Sharer> sharers_;
  std::uint64_t shares_ = 0;
};
}  // namespace nhalf::network
