#pragma once

#include "patterns/bases/threads/thread_operation.hpp"

namespace nhalf {

inline constexpr PatternInfo barrier_threads{
    .name = "barrier-threads",
    .what = "barriers among threads of equal index, all at the same time",
    .needs = "thread-collectives",
    .timing = Timing::slowest_rank,
    .axes = thread_axes,
    .sized = false,
    .option = several_threads};

template <ThreadCollectives T>
class BarrierThreads final : public ThreadOperation<T> {
 public:
  BarrierThreads(T& transport, const Case& point) : ThreadOperation<T>(transport, point) {}

  bool verify() override {
    this->run(1);
    return true;
  }

 private:
  void operate(int thread) override { this->transport_.synchronise(this->channel(thread)); }
};

NHALF_PATTERN(barrier_threads, BarrierThreads);

}  // namespace nhalf
