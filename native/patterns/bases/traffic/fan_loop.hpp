// Messages that fan out from one rank, or in to one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "patterns/bases/links.hpp"
#include "timing/stopwatch.hpp"

namespace nhalf {

/// Rounds of a fan that may be under way before whoever receives answers.
inline constexpr std::uint64_t fan_window = 32;

/// Whoever sends does so in one go, whoever receives takes messages in the order of ranks. After
/// fan_window rounds, and at the end, every receiver answers each of its senders with an empty
/// message: so what is timed is sending until the data has been taken and not the filling of
/// buffers, nobody runs ahead by more than a window, and a round costs the same in batches of any
/// length. The sampler takes the answers off.
///
/// The one rank's own time, from its first message of a window to its last and without the answers,
/// is a second result, `root_s`: how soon it can do something else.
template <Transport T>
class FanLoop : public Links<T> {
 public:
  void run(std::uint64_t rounds) override {
    T& transport = this->transport_;
    watch_.reset();
    rounds_ = rounds;
    while (rounds > 0) {
      const auto together = std::min(rounds, fan_window);
      watch_.time([&] { move(together); });
      for (const auto& link : this->in_) transport.send(link.peer, ConstBytes{});
      for (const auto& link : this->out_) transport.recv(link.peer, Bytes{});
      rounds -= together;
    }
  }

  [[nodiscard]] std::optional<std::uint64_t> moved_bytes() const override { return moved_bytes_; }

  /// Seconds per round of the latest batch at rank 0.
  std::vector<Value> values() override {
    const auto spent_s = watch_.seconds();
    if (!spent_s) return {};
    return {{"root_s", *spent_s / static_cast<double>(rounds_)}};
  }

 protected:
  /// Who sends to whom, as seen from one rank: from rank 0 to all others, or the other way.
  FanLoop(T& transport, const Case& point, bool outwards)
      : Links<T>(transport, point, peers(transport, outwards), peers(transport, !outwards)),
        moved_bytes_(static_cast<std::uint64_t>(transport.size() - 1) * point.size_bytes),
        watch_(transport) {}

 private:
  /// The messages of some rounds.
  void move(std::uint64_t rounds) {
    for (auto i = rounds; i > 0; --i) {
      for (const auto& link : this->out_) this->transport_.send(link.peer, link.data);
      for (const auto& link : this->in_) this->transport_.recv(link.peer, link.data);
    }
  }

  static std::vector<int> peers(const T& transport, bool of_root) {
    if (of_root != (transport.rank() == 0)) return {};
    return of_root ? all_but(0, transport.size()) : std::vector<int>{0};
  }

  std::uint64_t moved_bytes_;
  Stopwatch<T> watch_;
  std::uint64_t rounds_ = 0;
};

}  // namespace nhalf
