// SPDX-License-Identifier: Apache-2.0
// Processes of one host, joined by local stream sockets: the least that a transport must have.
#pragma once

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "contract/options.hpp"
#include "contract/pattern.hpp"
#include "contract/transport.hpp"
#include "timing/clock.hpp"

namespace nhalf {

class PipesTransport {
 public:
  static constexpr TransportInfo info{"pipes", "processes joined by local stream sockets", {}};
  static constexpr std::string_view clock_name = SteadyClock::name;

  /// Forks the ranks, each of which runs the body; rank 0 is the process that was started.
  template <class Body>
  static int launch(int, char**, int ranks, const Options&, Body body) {
    PipesTransport transport(ranks);
    std::fflush(nullptr);
    std::vector<pid_t> children;
    for (int rank = 1; rank < ranks; ++rank) {
      const pid_t child = fork();
      if (child == 0) {
        transport.rank_ = rank;
        body(transport);
        _exit(0);
      }
      children.push_back(child);
    }
    body(transport);
    for (const pid_t child : children) waitpid(child, nullptr, 0);
    return 0;
  }

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return ranks_; }
  [[nodiscard]] double now_s() const { return clock_.now_s(); }
  [[nodiscard]] std::string library() const { return "sockets of the kernel"; }

  void send(int peer, ConstBytes data) {
    while (!data.empty()) {
      const auto sent = ::send(socket_to(peer), data.data(), data.size(), MSG_NOSIGNAL);
      if (sent <= 0) _exit(1);
      data = data.subspan(static_cast<std::size_t>(sent));
    }
  }

  void recv(int peer, Bytes data) {
    while (!data.empty()) {
      const auto got = ::recv(socket_to(peer), data.data(), data.size(), MSG_WAITALL);
      if (got <= 0) _exit(1);
      data = data.subspan(static_cast<std::size_t>(got));
    }
  }

  void barrier() { all(true); }

  void broadcast(Bytes data) {
    if (rank_ > 0) return recv(0, data);
    for (int peer = 1; peer < ranks_; ++peer) send(peer, data);
  }

  bool all(bool mine) {
    auto verdict = static_cast<std::byte>(mine);
    const Bytes told(&verdict, 1);
    if (rank_ > 0) send(0, told);
    for (int peer = 1; rank_ == 0 && peer < ranks_; ++peer) {
      recv(peer, told);
      mine = mine && verdict != std::byte{0};
    }
    verdict = static_cast<std::byte>(mine);
    broadcast(told);
    return verdict != std::byte{0};
  }

  std::vector<std::string> gather(const std::string& text) {
    std::uint64_t length = text.size();
    const auto header = std::as_writable_bytes(std::span(&length, 1));
    if (rank_ > 0) {
      send(0, header);
      send(0, std::as_bytes(std::span(text)));
      return {};
    }
    std::vector<std::string> texts{text};
    for (int peer = 1; peer < ranks_; ++peer) {
      recv(peer, header);
      texts.emplace_back(length, ' ');
      recv(peer, std::as_writable_bytes(std::span(texts.back())));
    }
    return texts;
  }

 private:
  explicit PipesTransport(int ranks)
      : ranks_(ranks), ends_(static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks)) {
    for (int low = 0; low < ranks; ++low) {
      for (int high = low + 1; high < ranks; ++high) {
        std::array<int, 2> pair{};
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()) != 0)
          throw InputError("too many ranks for the sockets of this host");
        end(low, high) = pair[0];
        end(high, low) = pair[1];
      }
    }
  }

  int& end(int from, int to) { return ends_[static_cast<std::size_t>(from * ranks_ + to)]; }
  int socket_to(int peer) { return end(rank_, peer); }

  int ranks_;
  int rank_ = 0;
  std::vector<int> ends_;
  SteadyClock clock_;
};

}  // namespace nhalf

NHALF_TRANSPORT(nhalf::PipesTransport);
