// Ranks whose messages carry no data: an algorithm runs on them unchanged, and its messages pass
// the network of a machine in virtual time, as those of a library do on the virtual network.
#pragma once

#include <deque>
#include <unordered_map>

#include "contract/buffer.hpp"
#include "contract/options.hpp"
#include "network/flows.hpp"
#include "network/memory.hpp"
#include "transports/bases/fibers.hpp"

namespace nhalf {
using network::Picoseconds;

/// Seconds from a common start until the last rank ends, and until the root has ended and its last
/// message left it; and for how long messages keep all ranks together.
struct ComposedTimes {
  double completion_s = 0;
  double root_s = 0;
  double processors_s = 0;
};

/// State of all ranks: their clocks, and the messages in flight.
///
/// A rank runs until it needs something from the network. When all ranks do, the network goes on to
/// the next event that lets one of them continue. Messages of a channel between two ranks are taken
/// in the order in which they were sent.
class ComposedMachine {
 public:
  /// More messages are not followed.
  static constexpr std::uint64_t messages_max = 40'000;

  struct Arrived {
    Picoseconds time;
    std::uint64_t size_bytes;
  };
  /// When all ranks begin: long after anything that could keep their ways in.
  static constexpr Picoseconds start = 1'000'000'000'000'000;

  /// By when messages of before have left no trace.
  static constexpr Picoseconds quiet = start;

  struct Rank {
    Picoseconds clock = start;
    /// For how long its messages keep it: as far as they are apart where it has many, each way.
    Picoseconds busy = 0;
    bool is_waiting = false;
    /// When its messages have left, in the order in which they were sent.
    std::vector<Picoseconds> departures;
    std::size_t sent = 0;
    std::unordered_map<std::uint64_t, std::deque<Arrived>> from;

    /// What came from a rank in a channel, in its order.
    std::deque<Arrived>& coming(int source, std::uint32_t channel) {
      return from[key(source, channel)];
    }
    void forget(int source, std::uint32_t channel) { from.erase(key(source, channel)); }
    static std::uint64_t key(int source, std::uint32_t channel) {
      return std::uint64_t{channel} << 32 | static_cast<std::uint32_t>(source);
    }
  };

  /// Follows more messages than usual, that many times as many.
  explicit ComposedMachine(const network::Wires& machine, std::uint64_t times = 1)
      : wires(machine),
        ranks(static_cast<std::size_t>(machine.ranks())),
        due_(ranks.size(), network::never),
        times_(times) {
    flows_.begin();
  }

  /// Returns how all ranks did, rank 0 as the root.
  [[nodiscard]] ComposedTimes times() const {
    Picoseconds busy = 0;
    for (const auto& rank : ranks) busy += rank.busy;
    auto free = ranks.front().clock;
    for (const auto departure : ranks.front().departures) free = std::max(free, departure);
    return {seconds(latest() - start), seconds(free - start), seconds(busy)};
  }

  /// Throws std::length_error if there are so many messages, or they share so much, that following
  /// them takes seconds.
  void send(int from, int to, std::uint64_t size_bytes, std::uint32_t channel) {
    if (++messages_ > times_ * messages_max || flows_.shares() > times_ * shares_max)
      throw std::length_error("too many messages to follow");
    auto& sender = at(from);
    const auto& wire = wires.between(from, to);
    sender.clock += wire.send;
    sender.busy += std::max(wire.send, wire.busy_out(size_bytes));
    at(to).busy += std::max(wire.receive, wire.busy_in(size_bytes));
    const auto place = heap_.take(sizeof(network::Message));
    if (place == 0) throw std::bad_alloc();
    auto& message = *new (&memory_.state().at<std::byte>(place)) network::Message;
    message.size_bytes = size_bytes;
    message.source = {static_cast<std::uint32_t>(from), channel};
    message.target = static_cast<std::uint32_t>(to);
    ++sender.sent;
    set_times(message, wire, sender.clock);
    flows_.add(message);
  }

  /// Lets a rank wait until something that it needs is there, which `has_come` tells once events up
  /// to the rank's clock have happened.
  template <class HasCome>
  void wait(int rank, HasCome has_come) {
    while (!has_come()) {
      look_from(rank);
      fibers.wait_until([&] {
        if (!at(rank).is_waiting) return true;
        if (!fibers.is_any_ready()) advance();
        return !at(rank).is_waiting;
      });
    }
  }

  /// Lets all ranks go on at one time at which nothing is on its way, as the sampler does.
  void start_together() {
    if (++settled_ == ranks.size()) {
      const auto start_time = latest() + quiet;
      for (auto& rank : ranks) rank.clock = start_time;
      fibers.wake_all();
      return;
    }
    pass_until([&] { return settled_ == ranks.size(); });
  }

  /// Lets others, or else the network, go on until something holds; who makes it true wakes all.
  template <class Holds>
  void pass_until(Holds holds) {
    fibers.wait_until([&] {
      if (!holds() && !fibers.is_any_ready()) advance();
      return holds();
    });
  }

  /// A rank that ends lets the network go on for those that wait.
  void end() {
    if (!fibers.is_any_ready()) advance();
  }

  network::Wires wires;
  std::vector<Rank> ranks;
  Fibers fibers;

 private:
  /// What the network tells of messages.
  struct Events {
    ComposedMachine& machine;

    void departed(const network::Message& message, Picoseconds time) {
      machine.ranks[message.source.rank].departures.push_back(time);
      machine.wake_at(message.source.rank, time);
    }
    void arrived(const network::Message& message, Picoseconds due) {
      machine.wake_at(message.target, due);
    }
    [[noreturn]] void run_out_of_memory() { throw std::bad_alloc(); }
  };

  static constexpr std::size_t memory_bytes = std::size_t{1} << 34;
  static constexpr std::uint64_t shares_max = 5'000'000;

  static double seconds(Picoseconds time) { return static_cast<double>(time) * 1e-12; }
  [[nodiscard]] Picoseconds latest() const {
    return std::ranges::max_element(ranks, {}, &Rank::clock)->clock;
  }
  [[nodiscard]] Rank& at(int rank) { return ranks[static_cast<std::size_t>(rank)]; }

  void wake_at(std::size_t number, Picoseconds time) {
    const auto& rank = ranks[number];
    if (rank.is_waiting) due_[number] = std::min(due_[number], std::max(time, rank.clock));
  }
  void look_from(int number) {
    at(number).is_waiting = true;
    const auto first = network::Inbox(memory_.state(), number).due();
    if (first != network::never) wake_at(static_cast<std::size_t>(number), first);
  }
  /// Goes on to the next event of a rank, and wakes it. Without one, nobody is woken.
  void advance() {
    while (true) {
      const auto next = std::min_element(due_.begin(), due_.end());
      const auto flow = flows_.due();
      if (flow == network::never && *next == network::never) return;
      if (flow > *next) return take_arrived(static_cast<int>(next - due_.begin()));
      flows_.step();
    }
  }
  /// Lets a rank go on, with what has come in by the time that it looks.
  void take_arrived(int number) {
    auto& rank = at(number);
    network::Inbox inbox(memory_.state(), number);
    auto& due = due_[static_cast<std::size_t>(number)];
    const auto now = std::exchange(due, network::never);
    while (inbox.due() <= now) {
      const auto& message = inbox.take();
      rank.coming(static_cast<int>(message.source.rank), message.source.endpoint)
          .push_back({message.arrival, message.size_bytes});
      heap_.give_back(memory_.state().offset_of(&message), sizeof(network::Message));
    }
    rank.is_waiting = false;
    if (number != fibers.current()) fibers.wake(number);
  }

  /// When each rank looks at the network again: never while it does not wait, or nothing has come.
  std::vector<Picoseconds> due_;
  std::uint64_t times_, messages_ = 0;
  /// How many ranks are ready to start.
  std::size_t settled_ = 0;
  network::Memory memory_{memory_bytes};
  network::Heap heap_{memory_.state(), memory_.bytes()};
  network::Flows<Events> flows_{memory_.state(), heap_, wires.routes, wires.ranks(), Events{*this}};
};

/// The transport of one rank, which reads and writes no data, so buffers need no memory.
class ComposedTransport {
 public:
  static constexpr TransportInfo info{"composed", "messages without data on a virtual clock", {}};

  /// A receive, or a send whose message has the number.
  struct Request {
    int from = -1;
    Bytes data;
    std::size_t sent = 0;
  };

  ComposedTransport(ComposedMachine& machine, int rank) : machine_(machine), rank_(rank) {
    for (int other = 0; other < machine.wires.ranks(); ++other) members_.push_back(other);
  }
  /// The rank in a group of ranks, whose messages have a channel of their own.
  ComposedTransport(ComposedMachine& machine, int rank, std::vector<int> members,
                    std::uint32_t channel)
      : machine_(machine), rank_(rank), channel_(channel), members_(std::move(members)) {}

  [[nodiscard]] int rank() const {
    return static_cast<int>(std::ranges::find(members_, rank_) - members_.begin());
  }
  [[nodiscard]] int size() const { return static_cast<int>(members_.size()); }
  [[nodiscard]] double now_s() const { return static_cast<double>(me().clock) * 1e-12; }

  void send(int peer, ConstBytes data) {
    auto request = isend(peer, data);
    wait(request);
  }
  void recv(int peer, Bytes data) {
    const int source = members_[static_cast<std::size_t>(peer)];
    auto& coming = me().coming(source, channel_);
    machine_.wait(rank_, [&] { return !coming.empty(); });
    const auto message = coming.front();
    coming.pop_front();
    if (coming.empty()) me().forget(source, channel_);
    if (message.size_bytes > data.size()) throw InputError("a message is longer than its receive");
    me().clock = std::max(me().clock, message.time) + machine_.wires.between(source, rank_).receive;
  }
  void exchange(int to, ConstBytes out, int from, Bytes in) {
    auto request = isend(to, out);
    recv(from, in);
    wait(request);
  }
  Request isend(int peer, ConstBytes data) {
    machine_.send(rank_, members_[static_cast<std::size_t>(peer)], data.size(), channel_);
    return {-1, {}, data.size() > machine_.wires.eager_bytes ? me().sent : 0};
  }
  Request irecv(int peer, Bytes data) { return {peer, data}; }
  void wait(Request& request) {
    if (request.from >= 0) recv(request.from, request.data);
    if (request.sent > 0) wait_departed(request.sent);
    request = {};
  }

  /// Does nothing: algorithms communicate by messages only.
  void barrier() {}
  void broadcast(Bytes) {}
  bool all(bool mine) { return mine; }
  std::vector<std::string> gather(const std::string&) { return {}; }
  [[nodiscard]] std::string library() const { return "composed"; }

 private:
  [[nodiscard]] ComposedMachine::Rank& me() const {
    return machine_.ranks[static_cast<std::size_t>(rank_)];
  }
  /// Long messages occupy their sender until they have left it.
  void wait_departed(std::size_t sent) {
    machine_.wait(rank_, [&] { return me().departures.size() >= sent; });
    me().clock = std::max(me().clock, me().departures[sent - 1]);
  }

  ComposedMachine& machine_;
  int rank_;
  std::uint32_t channel_ = 0;
  std::vector<int> members_;
};
}  // namespace nhalf
