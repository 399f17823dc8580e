// Times single calls that may be as short as the reading of the clock itself.
#pragma once

#include "contract/pattern.hpp"
#include "timing/statistics.hpp"

namespace nhalf {
/// Adds up the times of calls, less what one reading of the clock takes.
///
/// Two readings around nothing are one reading apart, as are two around a call: that time is
/// measured by the same code and subtracted. The remainder is used as a mean over many calls, so
/// the step of the clock averages out; the remaining error is how far the time of a reading differs
/// between both places, less than a nanosecond on current processors. A call that takes no time
/// gives numbers around 0, of either sign.
template <class Clock>
class Stopwatch {
 public:
  explicit Stopwatch(Clock& clock) : clock_(clock) {
    std::array<double, batches> means_s;
    for (double& mean_s : means_s) {
      reset();
      for (int i = 0; i < calls_per_batch; ++i) time([] {});
      mean_s = spent_s_ / calls_per_batch;
    }
    overhead_s_ = median(means_s);
    reset();
  }

  void reset() {
    spent_s_ = 0;
    calls_ = 0;
  }

  /// Times one call.
  template <class Call>
  void time(Call call) {
    const double start_s = clock_.now_s();
    call();
    spent_s_ += clock_.now_s() - start_s;
    ++calls_;
  }

  /// Returns the seconds of all calls since the reset, below 0 if they are too short for this
  /// clock; nothing without calls.
  [[nodiscard]] std::optional<double> seconds() const {
    if (calls_ == 0) return std::nullopt;
    return spent_s_ - static_cast<double>(calls_) * overhead_s_;
  }

  /// Returns the overhead that was subtracted from each call, so that a reader can judge the rest.
  [[nodiscard]] std::vector<Value> values() const { return {{"clock_reading_s", overhead_s_}}; }

 private:
  static constexpr int batches = 15;
  static constexpr int calls_per_batch = 200;

  Clock& clock_;
  double overhead_s_ = 0;
  double spent_s_ = 0;
  std::uint64_t calls_ = 0;
};
}  // namespace nhalf
