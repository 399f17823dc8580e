// SPDX-License-Identifier: Apache-2.0
// Ranks whose messages carry no data: an algorithm runs on them unchanged, and its messages take
// the times of a machine's parts. LogGP after A. Alexandrov, M. Ionescu, K. Schauser, C. Scheiman,
// "LogGP: Incorporating Long Messages into the LogP Model", SPAA 1995, with curves for its lines.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "composer/parts.hpp"
#include "contract/blocks.hpp"
#include "contract/transport.hpp"
#include "transports/bases/fibers.hpp"

namespace nhalf {

/// State of all ranks: their clocks, and the messages in flight.
class ComposedMachine {
 public:
  struct Message {
    double arrival_s;
    std::size_t size_bytes;
  };
  struct Rank {
    double clock_s = 0;
    double sender_free_s = 0;
    double taken_s = 0;
    bool taken_any = false;
    std::unordered_map<int, std::deque<Message>> from;
  };

  ComposedMachine(const MessageParts& message_parts, int count)
      : parts(message_parts), ranks(static_cast<std::size_t>(count)) {}

  /// Returns the time at which the last rank ends.
  [[nodiscard]] double latest_s() const {
    double latest_s = 0;
    for (const auto& rank : ranks) latest_s = std::max(latest_s, rank.clock_s);
    return latest_s;
  }

  const MessageParts& parts;
  std::vector<Rank> ranks;
  Fibers fibers;
};

/// The transport of one rank, which reads and writes no data, so buffers need no memory.
class ComposedTransport {
 public:
  static constexpr TransportInfo info{"composed", "messages without data on a virtual clock", {}};

  struct Request {
    int from = -1;
    Bytes data;
  };

  ComposedTransport(ComposedMachine& machine, int rank) : machine_(machine), rank_(rank) {}

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return static_cast<int>(machine_.ranks.size()); }
  [[nodiscard]] double now_s() const { return me().clock_s; }

  void send(int peer, ConstBytes data) {
    auto& own_rank = me();
    const auto n = static_cast<double>(data.size());
    const double start_s = std::max(own_rank.clock_s, own_rank.sender_free_s);
    own_rank.clock_s = start_s + machine_.parts.o_s;
    own_rank.sender_free_s = start_s + machine_.parts.sends_apart.at_s(n);
    at(peer).from[rank_].push_back(
        {start_s + machine_.parts.message.at_s(n) - machine_.parts.o_r, data.size()});
    machine_.fibers.wake(peer);
  }
  /// Receives messages no closer together than the gap of the receiver.
  void recv(int peer, Bytes data) {
    auto& coming = me().from[peer];
    machine_.fibers.wait_until([&coming] { return !coming.empty(); });
    const auto message = coming.front();
    coming.pop_front();
    if (message.size_bytes > data.size()) throw InputError("a message is longer than its receive");
    const auto n = static_cast<double>(message.size_bytes);
    auto& own_rank = me();
    const double apart_s = own_rank.taken_any ? machine_.parts.receives_apart.at_s(n) : 0;
    const double taken_s = std::max(message.arrival_s, own_rank.taken_s + apart_s);
    own_rank.taken_s = taken_s;
    own_rank.taken_any = true;
    own_rank.clock_s = std::max(own_rank.clock_s, taken_s) + machine_.parts.o_r;
  }
  void exchange(int to, ConstBytes out, int from, Bytes in) {
    send(to, out);
    recv(from, in);
  }
  Request isend(int peer, ConstBytes data) {
    send(peer, data);
    return {};
  }
  Request irecv(int peer, Bytes data) { return {peer, data}; }
  void wait(Request& request) {
    if (request.from >= 0) recv(request.from, request.data);
    request.from = -1;
  }

  /// Does nothing: algorithms communicate by messages only.
  void barrier() {}
  void broadcast(Bytes) {}
  bool all(bool mine) { return mine; }
  std::vector<std::string> gather(const std::string&) { return {}; }
  [[nodiscard]] std::string library() const { return "composed"; }

 private:
  [[nodiscard]] ComposedMachine::Rank& me() const { return at(rank_); }
  [[nodiscard]] ComposedMachine::Rank& at(int rank) const {
    return machine_.ranks[static_cast<std::size_t>(rank)];
  }

  ComposedMachine& machine_;
  int rank_;
};

}  // namespace nhalf
