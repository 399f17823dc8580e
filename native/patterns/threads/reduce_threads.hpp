#pragma once

#include "patterns/bases/threads/thread_operation.hpp"

namespace nhalf {

inline constexpr PatternInfo reduce_threads{
    .name = "reduce-threads",
    .what = "reductions among threads of equal index, to rank 0, all at the same time",
    .needs = "thread-collectives",
    .timing = Timing::slowest_rank,
    .axes = thread_axes,
    .size_multiple = 4,
    .option = several_threads};

template <ThreadCollectives T>
class ReduceThreads final : public ThreadSum<T> {
 public:
  ReduceThreads(T& transport, const Case& point) : ThreadSum<T>(transport, point) {}

 private:
  [[nodiscard]] bool has_sum() const override { return this->transport_.rank() == 0; }
  void operate(int thread) override {
    this->transport_.reduce(this->channel(thread), 0, this->out(thread), this->in(thread));
  }
};

NHALF_PATTERN(reduce_threads, ReduceThreads);

}  // namespace nhalf
