#pragma once

#include "patterns/collectives/barrier.hpp"

namespace nhalf {

inline constexpr std::array grain_axis{
    AxisInfo{"grain", "1000:4096000:x4", "0", "nanoseconds of work before each barrier"}};
inline constexpr auto work_barrier_axes = joined(algorithm_axes, grain_axis);

inline constexpr PatternInfo work_barrier_info{
    .name = "work-barrier",
    .what = "every rank works for as long as its grain says, then all wait for each other",
    .needs = "collectives",
    .timing = Timing::operation,
    .axes = work_barrier_axes,
    .sized = false};

/// The synthetic loop of bulk-synchronous programs. The work is spinning on the clock, so that what
/// is beyond the grain is the barrier.
template <Collectives T>
class WorkBarrier : public Barrier<T> {
 public:
  WorkBarrier(T& transport, const Case& point)
      : Barrier<T>(transport, point), asked_s_(point.axes.number("grain", 0.0) * 1e-9) {
    if (!(asked_s_ >= 0)) throw InputError("axis grain is from 0 up");
  }

  bool verify() override {
    grain_s_ = 0;
    return Barrier<T>::verify();
  }
  void prepare() override { grain_s_ = asked_s_; }

  void run(std::uint64_t rounds) override {
    T& transport = this->transport_;
    for (; rounds > 0; --rounds) {
      if (grain_s_ > 0) idle_until(transport, transport.now_s() + grain_s_);
      Barrier<T>::run(1);
    }
  }

 private:
  double asked_s_;
  double grain_s_ = 0;
};
NHALF_PATTERN(work_barrier_info, WorkBarrier);

}  // namespace nhalf
