// Messages between all ranks over their connections, and the waiting for them.
#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "contract/transport.hpp"
#include "transports/bases/polled_requests.hpp"
#include "transports/tcp/connection.hpp"

namespace nhalf::tcp {

/// A started send or receive; `peer` is -1 where there is none.
struct Request {
  int peer = -1;
  bool receives = false;
  std::uint64_t number = 0;
};

/// All connections of one rank. A waiting rank polls them `looks` times and then sleeps until the
/// system wakes it, since ranks may outnumber cores.
class Messages {
 public:
  Messages() = default;
  /// `processes` are those of the ranks, by which they are named.
  Messages(int rank, std::vector<Socket> sockets, std::vector<int> processes, int looks)
      : looks_(looks), processes_(std::move(processes)) {
    for (int peer = 0; auto& socket : sockets) {
      if (peer != rank) polled_.push_back(static_cast<std::size_t>(peer));
      connections_.emplace_back(std::move(socket), peer++);
    }
    awaited_.resize(polled_.size());
  }

  Request start_send(int peer, ConstBytes data) { return {peer, false, of(peer).post_send(data)}; }
  Request start_receive(int peer, Bytes data) { return {peer, true, of(peer).post_receive(data)}; }

  void finish(Request& request) {
    until([&] { return is_done(request); });
    request = {};
  }
  /// Polls each in turn, so that no peer is always served last.
  std::size_t finish_any(std::span<Request> requests) {
    const auto completed = in_turn_.first_done(
        requests, [this](auto holds) { until(holds); },
        [](const Request& request) { return request.peer >= 0; },
        [this](const Request& request) { return is_done(request); });
    if (completed < requests.size()) requests[completed] = {};
    return completed;
  }

 private:
  Connection& of(int peer) { return connections_[static_cast<std::size_t>(peer)]; }

  bool is_done(const Request& request) {
    if (request.peer < 0) return true;
    const auto& connection = of(request.peer);
    return request.receives ? connection.is_received(request.number)
                            : connection.is_sent(request.number);
  }

  template <class Ready>
  void until(Ready ready) {
    try {
      for (int look = 0; !ready(); ++look) {
        for (const auto peer : polled_) connections_[peer].advance();
        if (look >= looks_ && !ready()) sleep();
      }
    } catch (const ClosedError&) {
      stop_if_closed(0);
      throw;
    }
  }

  /// Until a connection can go on, or a second is over.
  void sleep() { stop_if_closed(1000); }

  /// Throws std::runtime_error with all ranks that have closed their connections: one that ends
  /// because another one has gone is not the one to be named alone.
  void stop_if_closed(int timeout_ms) {
    for (std::size_t i = 0; i < polled_.size(); ++i)
      awaited_[i] = connections_[polled_[i]].awaited();
    if (::poll(awaited_.data(), awaited_.size(), timeout_ms) <= 0) return;
    std::string closed;
    for (std::size_t i = 0; i < polled_.size(); ++i)
      if ((awaited_[i].revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0)
        closed += (closed.empty() ? "" : ", ") + name_of(polled_[i]);
    if (!closed.empty()) throw std::runtime_error(closed + " has ended before the others");
  }

  [[nodiscard]] std::string name_of(std::size_t peer) const {
    return "rank " + std::to_string(peer) + " (process " + std::to_string(processes_[peer]) + ")";
  }

  int looks_ = 0;
  PolledRequests in_turn_;
  std::vector<Connection> connections_;
  std::vector<std::size_t> polled_;
  std::vector<pollfd> awaited_;
  std::vector<int> processes_;
};

}  // namespace nhalf::tcp
