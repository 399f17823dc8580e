// SPDX-License-Identifier: Apache-2.0
// Ranks whose messages carry no data: an algorithm runs on them as it is, and its messages take
// what the parts of a machine say. LogGP after A. Alexandrov, M. Ionescu, K. Schauser, C. Scheiman,
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

/// What all ranks share: their clocks, and the messages under way.
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

  ComposedMachine(const MessageParts& known, int count)
      : parts(known), ranks(static_cast<std::size_t>(count)) {}

  /// When the last rank is done.
  [[nodiscard]] double latest_s() const {
    double latest_s = 0;
    for (const auto& rank : ranks) latest_s = std::max(latest_s, rank.clock_s);
    return latest_s;
  }

  const MessageParts& parts;
  std::vector<Rank> ranks;
  Fibers fibers;
};

/// One rank. Nothing is read or written: buffers need no memory.
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
    auto& mine = me();
    const auto n = static_cast<double>(data.size());
    const double began_s = std::max(mine.clock_s, mine.sender_free_s);
    mine.clock_s = began_s + machine_.parts.o_s;
    mine.sender_free_s = began_s + machine_.parts.sends_apart.at_s(n);
    at(peer).from[rank_].push_back(
        {began_s + machine_.parts.message.at_s(n) - machine_.parts.o_r, data.size()});
    machine_.fibers.wake(peer);
  }
  /// Messages are taken no closer together than their receiver can.
  void recv(int peer, Bytes data) {
    auto& coming = me().from[peer];
    machine_.fibers.wait_until([&coming] { return !coming.empty(); });
    const auto message = coming.front();
    coming.pop_front();
    if (message.size_bytes > data.size()) throw InputError("a message is longer than its receive");
    const auto n = static_cast<double>(message.size_bytes);
    auto& mine = me();
    const double apart_s = mine.taken_any ? machine_.parts.receives_apart.at_s(n) : 0;
    const double taken_s = std::max(message.arrival_s, mine.taken_s + apart_s);
    mine.taken_s = taken_s;
    mine.taken_any = true;
    mine.clock_s = std::max(mine.clock_s, taken_s) + machine_.parts.o_r;
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

  /// Algorithms control nothing outside of their messages.
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
