// Messages in order over one connection; neither direction ever makes the rank wait here.
#pragma once

#include <sys/uio.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include "contract/transport.hpp"
#include "transports/bases/ring_queue.hpp"
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

}  // namespace nhalf::tcp
