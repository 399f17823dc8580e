// SPDX-License-Identifier: Apache-2.0
// Messages that fan out from one rank, or in to one.
#pragma once

#include <algorithm>
#include <cstdint>

#include "patterns/bases/links.hpp"

namespace nhalf {

/// Rounds of a fan that may be under way before whoever receives answers.
inline constexpr std::uint64_t fan_window = 32;

/// Whoever sends does so in one go, whoever receives takes messages in the order of ranks. After
/// fan_window rounds, and at the end, every receiver answers each of its senders with an empty
/// message: so what is timed is sending until the data has been taken and not the filling of
/// buffers, nobody runs ahead by more than a window, and a round costs the same in batches of any
/// length. The answers are in the time, a fan_window-th part of them in each round.
template <Transport T>
class FanLoop : public Links<T> {
 public:
  using Links<T>::Links;

  void run(std::uint64_t rounds) override {
    T& transport = this->transport_;
    while (rounds > 0) {
      const auto together = std::min(rounds, fan_window);
      for (auto i = together; i > 0; --i) {
        for (const auto& link : this->out_) transport.send(link.peer, link.data);
        for (const auto& link : this->in_) transport.recv(link.peer, link.data);
      }
      for (const auto& link : this->in_) transport.send(link.peer, ConstBytes{});
      for (const auto& link : this->out_) transport.recv(link.peer, Bytes{});
      rounds -= together;
    }
  }

  [[nodiscard]] std::optional<std::uint64_t> moved_bytes() const override { return moved_bytes_; }

 protected:
  /// Who sends to whom, as seen from one rank: from rank 0 to all others, or the other way.
  FanLoop(T& transport, const Case& point, bool outwards)
      : Links<T>(transport, point, peers(transport, outwards), peers(transport, !outwards)),
        moved_bytes_(static_cast<std::uint64_t>(transport.size() - 1) * point.size_bytes) {}

 private:
  static std::vector<int> peers(const T& transport, bool of_root) {
    if (of_root != (transport.rank() == 0)) return {};
    return of_root ? all_but(0, transport.size()) : std::vector<int>{0};
  }

  std::uint64_t moved_bytes_;
};

}  // namespace nhalf
