// A socket that is closed when it is no longer held, and the few calls on it.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <system_error>

#include "contract/vocabulary.hpp"

namespace nhalf::tcp {
/// A file descriptor of a socket, non-blocking; empty where there is none.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() {
    if (descriptor_ >= 0) close(descriptor_);
  }

  static Socket open(int family) {
    return Socket(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  }

  [[nodiscard]] int descriptor() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }

  /// Sets a number; systems that do not know the option go without.
  void set(int level, int option, int value) const {
    setsockopt(descriptor_, level, option, &value, sizeof value);
  }

  /// Whether something of `events` came within the time.
  [[nodiscard]] bool ready(short events, double timeout_s) const {
    pollfd watched{descriptor_, events, 0};
    return ::poll(&watched, 1, static_cast<int>(timeout_s * 1e3)) > 0;
  }

 private:
  int descriptor_ = -1;
};

/// An address with its port, of either family.
struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;

  /// Parses an address ("10.0.0.1", "fe80::1"); of length 0 if it is invalid.
  static Address parse(const std::string& text, std::uint16_t port) {
    Address address;
    auto* four = reinterpret_cast<sockaddr_in*>(&address.storage);
    auto* six = reinterpret_cast<sockaddr_in6*>(&address.storage);
    if (inet_pton(AF_INET, text.c_str(), &four->sin_addr) == 1) {
      four->sin_family = AF_INET;
      four->sin_port = htons(port);
      address.length = sizeof *four;
    } else if (inet_pton(AF_INET6, text.c_str(), &six->sin6_addr) == 1) {
      six->sin6_family = AF_INET6;
      six->sin6_port = htons(port);
      address.length = sizeof *six;
    }
    return address;
  }

  [[nodiscard]] const sockaddr* pointer() const {
    return reinterpret_cast<const sockaddr*>(&storage);
  }
};

/// A socket that waits for connections at an address; port 0 is one of the system's choice.
class Listener {
 public:
  /// Throws std::system_error where the host does not let it.
  Listener(const std::string& address, int backlog, std::uint16_t port = 0) {
    const auto at = Address::parse(address, port);
    socket_ = Socket::open(at.storage.ss_family);
    // Connections of the launch before may not be forgotten yet.
    if (port != 0) socket_.set(SOL_SOCKET, SO_REUSEADDR, 1);
    if (at.storage.ss_family == AF_INET6) socket_.set(IPPROTO_IPV6, IPV6_V6ONLY, 0);
    if (bind(socket_.descriptor(), at.pointer(), at.length) != 0 ||
        listen(socket_.descriptor(), backlog) != 0)
      throw std::system_error(errno, std::generic_category(), "cannot listen at " + address);
  }

  /// At every address of the host, of both families where it has them.
  static Listener everywhere(int backlog, std::uint16_t port = 0) {
    try {
      return {"::", backlog, port};
    } catch (const std::system_error&) {
      return {"0.0.0.0", backlog, port};
    }
  }

  [[nodiscard]] const Socket& socket() const { return socket_; }
  [[nodiscard]] std::uint16_t port() const {
    sockaddr_storage own{};
    socklen_t length = sizeof own;
    getsockname(socket_.descriptor(), reinterpret_cast<sockaddr*>(&own), &length);
    // The port lies at the same place in both families.
    return ntohs(reinterpret_cast<const sockaddr_in*>(&own)->sin_port);
  }
  /// The next connection, empty where nobody waits for one.
  [[nodiscard]] Socket accept() const {
    return Socket(accept4(socket_.descriptor(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  }

 private:
  Socket socket_;
};

/// A connection to an address, empty where there is none within the time.
inline Socket connected(const Address& to, double timeout_s) {
  if (to.length == 0) return {};
  auto socket = Socket::open(to.storage.ss_family);
  if (connect(socket.descriptor(), to.pointer(), to.length) == 0) return socket;
  if (errno != EINPROGRESS || !socket.ready(POLLOUT, timeout_s)) return {};
  int error = 0;
  socklen_t length = sizeof error;
  getsockopt(socket.descriptor(), SOL_SOCKET, SO_ERROR, &error, &length);
  return error == 0 ? std::move(socket) : Socket{};
}

/// Seconds that must not go back.
inline double steady_s() {
  using std::chrono::steady_clock;
  return std::chrono::duration<double>(steady_clock::now().time_since_epoch()).count();
}

/// Whether all bytes went out within the time.
inline bool write_all(const Socket& socket, std::span<const std::byte> data, double timeout_s) {
  const double until_s = steady_s() + timeout_s;
  while (!data.empty()) {
    const auto moved = ::send(socket.descriptor(), data.data(), data.size(), MSG_NOSIGNAL);
    if (moved > 0) {
      data = data.subspan(static_cast<std::size_t>(moved));
    } else if (errno != EAGAIN && errno != EINTR) {
      return false;
    } else if (steady_s() > until_s || !socket.ready(POLLOUT, until_s - steady_s())) {
      return false;
    }
  }
  return true;
}

/// Whether as many bytes came within the time.
inline bool read_all(const Socket& socket, std::span<std::byte> data, double timeout_s) {
  const double until_s = steady_s() + timeout_s;
  while (!data.empty()) {
    const auto moved = ::recv(socket.descriptor(), data.data(), data.size(), 0);
    if (moved > 0) {
      data = data.subspan(static_cast<std::size_t>(moved));
    } else if (moved == 0 || (errno != EAGAIN && errno != EINTR)) {
      return false;
    } else if (steady_s() > until_s || !socket.ready(POLLIN, until_s - steady_s())) {
      return false;
    }
  }
  return true;
}
}  // namespace nhalf::tcp
