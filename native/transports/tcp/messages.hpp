// Messages between all ranks over their connections, and the waiting for them. Neither direction of
// a connection ever makes the rank wait here.
#pragma once

#include <sys/uio.h>

#include "contract/transport.hpp"
#include "transports/bases/polled_requests.hpp"
#include "transports/tcp/socket.hpp"

namespace nhalf::tcp {
/// Header before the bytes of every message.
struct Header {
  static constexpr std::uint32_t expected_magic = 0x31506e54U;  // "TnP1"

  std::uint32_t magic = expected_magic;
  std::uint32_t number = 0;
  std::uint64_t size_bytes = 0;
};
static_assert(sizeof(Header) == 16);

/// Thrown when the peer has closed the connection.
struct ClosedError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A connection to one rank. Sends and receives are numbered from 0, each in their order. A message
/// is read from the connection when its receive is there, straight to where it belongs; until
/// then the system keeps it, or its sender waits.
class Connection {
 public:
  Connection() = default;
  Connection(Socket socket, int peer) : socket_(std::move(socket)), peer_(peer) {}

  /// Starts to send; the number of this send.
  std::uint64_t post_send(ConstBytes data) {
    const auto number = posted_sends_++;
    sends_.push({Header{.number = static_cast<std::uint32_t>(number), .size_bytes = data.size()},
                 data.data(), data.size()});
    if (sends_.size() == 1) advance_sends();
    return number;
  }
  /// Starts to receive a message of exactly this size; the number of this receive.
  std::uint64_t post_receive(Bytes data) {
    receives_.push({Header{}, data.data(), data.size()});
    return posted_receives_++;
  }
  [[nodiscard]] bool is_sent(std::uint64_t number) const { return number < sent_; }
  [[nodiscard]] bool is_received(std::uint64_t number) const { return number < received_; }

  /// Does what can be done at once. Throws ClosedError where the peer is gone, and another
  /// std::runtime_error where what came is not the message that was agreed.
  void advance() {
    if (!sends_.empty()) advance_sends();
    while (!receives_.empty() && advance_receive()) {
    }
  }

  /// Events that `poll` waits for; the end of the connection is always one.
  [[nodiscard]] pollfd awaited() const {
    const int events =
        POLLRDHUP | (sends_.empty() ? 0 : POLLOUT) | (receives_.empty() ? 0 : POLLIN);
    return {socket_.descriptor(), static_cast<short>(events), 0};
  }

 private:
  [[noreturn]] void lost() const {
    throw ClosedError("rank " + std::to_string(peer_) + " has closed its connection");
  }

  template <class Pointer>
  struct Part {
    Header header;
    Pointer data = nullptr;
    std::size_t size_bytes = 0;
  };

  /// The header and the bytes of a message without what has been done already.
  template <class Pointer>
  static std::pair<iovec*, std::size_t> rest(Part<Pointer>& part, std::size_t passed,
                                             iovec (&parts)[2]) {
    const auto headed = std::min(passed, sizeof part.header);
    parts[0] = {reinterpret_cast<std::byte*>(&part.header) + headed, sizeof part.header - headed};
    const auto moved = passed - headed;
    parts[1] = {const_cast<std::byte*>(part.data) + moved, part.size_bytes - moved};
    const std::size_t first = parts[0].iov_len == 0 ? 1 : 0;
    return {&parts[first], (parts[1].iov_len == 0 ? 1 : 2) - first};
  }

  void advance_sends() {
    while (!sends_.empty()) {
      auto& part = sends_.front();
      iovec parts[2];
      msghdr message{};
      std::tie(message.msg_iov, message.msg_iovlen) = rest(part, send_done_, parts);
      const auto passed = ::sendmsg(socket_.descriptor(), &message, MSG_NOSIGNAL);
      if (passed < 0) {
        if (errno == EAGAIN || errno == EINTR) return;
        lost();
      }
      send_done_ += static_cast<std::size_t>(passed);
      if (send_done_ < sizeof part.header + part.size_bytes) continue;
      sends_.pop();
      send_done_ = 0;
      ++sent_;
    }
  }

  /// Whether a message was completed.
  bool advance_receive() {
    auto& part = receives_.front();
    for (;;) {
      iovec parts[2];
      msghdr message{};
      std::tie(message.msg_iov, message.msg_iovlen) = rest(part, receive_done_, parts);
      const auto passed = ::recvmsg(socket_.descriptor(), &message, 0);
      if (passed == 0) lost();
      if (passed < 0) {
        if (errno == EAGAIN || errno == EINTR) return false;
        lost();
      }
      const bool had_header = receive_done_ >= sizeof part.header;
      receive_done_ += static_cast<std::size_t>(passed);
      if (!had_header && receive_done_ >= sizeof part.header) check(part.header, part.size_bytes);
      if (receive_done_ == sizeof part.header + part.size_bytes) break;
    }
    receives_.pop();
    receive_done_ = 0;
    ++received_;
    return true;
  }

  void check(const Header& header, std::size_t size_bytes) const {
    const auto who = "rank " + std::to_string(peer_);
    if (header.magic != Header::expected_magic ||
        header.number != static_cast<std::uint32_t>(received_))
      throw std::runtime_error(who + " has sent what is no message of nhalf");
    if (header.size_bytes != size_bytes)
      throw std::runtime_error(who + " has sent " + std::to_string(header.size_bytes) +
                               " bytes where " + std::to_string(size_bytes) + " were expected");
  }

  Socket socket_;
  int peer_ = -1;
  RingQueue<Part<const std::byte*>> sends_;
  RingQueue<Part<std::byte*>> receives_;
  std::size_t send_done_ = 0, receive_done_ = 0;
  std::uint64_t posted_sends_ = 0, posted_receives_ = 0, sent_ = 0, received_ = 0;
};

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
