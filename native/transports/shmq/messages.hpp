// Messages between one rank and all others of its host, by postboxes.
#pragma once

#include <deque>

#include "transports/bases/peer_watch.hpp"
#include "transports/bases/polled_requests.hpp"
#include "transports/shmq/incoming.hpp"
#include "transports/shmq/outgoing.hpp"

namespace nhalf::shmq {
/// Both directions between this rank and a peer, with pending operations.
struct Line {
  Line(const Lane& to, const Lane& from, const Settings& settings, pid_t process)
      : out(to, settings, SingleCopy(process)), in(from, settings, SingleCopy(process)) {}

  Outgoing out;
  Incoming<SingleCopy> in;
  Queue sends, receives;
  bool is_active = false;
};

/// All operations of one rank, which progress only within its calls.
class Messages {
 public:
  /// A started operation; none once it was waited for.
  struct Request {
    Operation* operation = nullptr;
  };

  Messages(const Settings& settings, Patience& patience, int ranks)
      : settings_(settings), patience_(&patience) {
    lines_.reserve(static_cast<std::size_t>(ranks));
    active_.reserve(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank) everyone_.push_back(rank);
  }

  /// Rank by rank, this one included.
  void add_line(const Lane& to, const Lane& from, pid_t process) {
    lines_.emplace_back(to, from, settings_, process);
  }

  void send(int peer, ConstBytes data, bool answered = false) {
    auto& way = line(peer);
    const bool fits = data.size() <= Postbox::room_bytes && !answered;
    if (fits && way.sends.empty() && way.out.send_whole(data)) return;
    auto sent = outgoing(peer, data, answered);
    begin(sent);
    finish(sent);
  }
  void recv(int peer, Bytes data) {
    if (active_.empty() && !settings_.general && takes_whole(peer, data)) return;
    auto received = incoming(peer, data);
    begin(received);
    finish(received);
  }
  void exchange(int to, ConstBytes out, int from, Bytes in) {
    auto received = incoming(from, in);
    auto sent = outgoing(to, out, false);
    begin(sent);
    begin(received);
    finish(received);
    finish(sent);
  }

  Request isend(int peer, ConstBytes data) { return start(outgoing(peer, data, false)); }
  Request irecv(int peer, Bytes data) { return start(incoming(peer, data)); }
  void wait(Request& request) {
    if (request.operation == nullptr) return;
    finish(*request.operation);
    forget(request);
  }
  /// Polls each in turn, so that no sender is always served last.
  std::size_t wait_any(std::span<Request> requests) {
    const auto until = [this](auto holds) {
      patience_->until([&] {
        progress();
        return holds();
      });
    };
    const auto completed = in_turn_.first_done(
        requests, until, [](const Request& request) { return request.operation != nullptr; },
        [this](const Request& request) { return is_done(*request.operation); });
    if (completed < requests.size()) forget(requests[completed]);
    return completed;
  }

 private:
  static Operation outgoing(int peer, ConstBytes data, bool answered) {
    Operation begun;
    begun.data = const_cast<std::byte*>(data.data());
    begun.size_bytes = data.size();
    begun.answered = answered;
    begun.sends = true;
    begun.peer = peer;
    return begun;
  }
  static Operation incoming(int peer, Bytes data) {
    Operation begun;
    begun.data = data.data();
    begun.size_bytes = data.size();
    begun.peer = peer;
    return begun;
  }

  /// Waits for a message from one rank while nothing else is pending; false if it has more than one
  /// box.
  bool takes_whole(int peer, Bytes data) {
    auto& way = line(peer);
    Look look = Look::nothing;
    patience_->until([&] { return (look = way.in.take_whole(data)) != Look::nothing; });
    if (way.in.has_turn()) way.out.take_turn();
    return look == Look::taken;
  }

  Line& line(int peer) { return lines_[static_cast<std::size_t>(peer)]; }

  void begin(Operation& operation) {
    auto& way = line(operation.peer);
    (operation.sends ? way.sends : way.receives).push(operation);
    if (!way.is_active) active_.push_back(operation.peer);
    way.is_active = true;
    advance(way);
  }

  Request start(const Operation& operation) {
    if (free_.empty()) free_.push_back(&pool_.emplace_back());
    auto* free_buffer = free_.back();
    free_.pop_back();
    *free_buffer = operation;
    begin(*free_buffer);
    return {free_buffer};
  }

  void forget(Request& request) {
    free_.push_back(request.operation);
    request.operation = nullptr;
  }

  [[nodiscard]] bool is_done(const Operation& operation) {
    if (!operation.sends) return operation.state == Operation::State::done;
    auto& out = line(operation.peer).out;
    out.help(operation);
    return out.is_done(operation);
  }

  void finish(const Operation& operation) {
    if (is_done(operation)) return;
    patience_->until([&] {
      progress();
      return is_done(operation);
    });
  }

  /// Makes progress on all operations between this rank and a peer.
  static void advance(Line& way) {
    while (!way.receives.empty() && way.in.go_on(way.receives.front())) {
      way.receives.pop();
      if (way.in.has_turn()) way.out.take_turn();
    }
    while (!way.sends.empty() && way.out.go_on(way.sends.front())) way.sends.pop();
  }

  void progress() {
    if (settings_.general)
      for (const int rank : everyone_) holds_message_ = line(rank).in.holds_message();
    for (std::size_t i = 0; i < active_.size();) {
      auto& way = line(active_[i]);
      advance(way);
      way.is_active = !way.sends.empty() || !way.receives.empty();
      if (way.is_active) {
        ++i;
      } else {
        active_[i] = active_.back();
        active_.pop_back();
      }
    }
  }

  Settings settings_;
  Patience* patience_;
  std::vector<Line> lines_;
  std::vector<int> active_, everyone_;
  std::deque<Operation> pool_;
  std::vector<Operation*> free_;
  PolledRequests in_turn_;
  /// Keeps the compiler from leaving out the looks of general polling.
  volatile bool holds_message_ = false;
};
}  // namespace nhalf::shmq
