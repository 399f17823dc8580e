#pragma once

#include <algorithm>
#include <cmath>

#include "patterns/bases/pair.hpp"
#include "timing/rank_times.hpp"
#include "timing/stopwatch.hpp"

namespace nhalf {

inline constexpr PatternInfo gap{
    .name = "gap",
    .what = "time per message where rank 0 sends to rank 1 without a pause (g of LogP)",
    .timing = Timing::inner};

/// The first half of a batch fills whatever buffers there are and is not timed; the second half is
/// timed at both ends, and the slower one counts. A batch is at least as long as it must be for a
/// longer one to give the same time per message.
template <Transport T>
class Gap : public Pair<T> {
 public:
  Gap(T& transport, const Case& point) : Pair<T>(transport, point), watch_(transport) {}

  void prepare() override {
    double before_s = message_s();
    for (bool changed = true; changed && least_ < messages_max;) {
      least_ *= 2;
      const double now_s = message_s();
      const bool long_enough = now_s * static_cast<double>(least_) > preparation_s;
      changed = !long_enough && std::abs(now_s - before_s) > change_max * before_s;
      before_s = now_s;
    }
  }

  void run(std::uint64_t rounds) override {
    T& transport = this->transport_;
    timed_messages_ = (std::max(rounds, least_) + 1) / 2;
    rounds_ = rounds;
    watch_.reset();
    if (transport.rank() == 0) {
      pump([&] { transport.send(1, this->out_.bytes()); });
      transport.recv(1, Bytes{});
    } else if (transport.rank() == 1) {
      pump([&] { transport.recv(0, this->in_.bytes()); });
      transport.send(0, ConstBytes{});
    }
  }

  /// What the rounds asked for take at the rate of those that were timed.
  [[nodiscard]] std::optional<double> timed_s() const override {
    const auto spent_s = watch_.seconds();
    if (!spent_s) return std::nullopt;
    return *spent_s / static_cast<double>(timed_messages_) * static_cast<double>(rounds_);
  }

 protected:
  [[nodiscard]] bool receives() const override { return this->transport_.rank() == 1; }

 private:
  static constexpr std::uint64_t messages_max = 1 << 14;
  static constexpr double preparation_s = 5e-3;
  static constexpr double change_max = 0.01;

  template <class Move>
  void pump(Move move) {
    for (auto i = timed_messages_; i > 0; --i) move();
    watch_.time([&] {
      for (auto i = timed_messages_; i > 0; --i) move();
    });
  }

  /// Seconds per message of a shortest batch at the slower rank, the same at every rank.
  double message_s() {
    this->transport_.barrier();
    run(1);
    double slowest_s = longest_of(collect_times(this->transport_, timed_s()));
    share(this->transport_, slowest_s);
    return slowest_s;
  }

  Stopwatch<T> watch_;
  std::uint64_t least_ = 4;
  std::uint64_t timed_messages_ = 1;
  std::uint64_t rounds_ = 1;
};
NHALF_PATTERN(gap, Gap);

}  // namespace nhalf
