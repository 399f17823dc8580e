#pragma once

#include "patterns/bases/threads/thread_operation.hpp"

namespace nhalf {

inline constexpr PatternInfo allreduce_threads{
    .name = "allreduce-threads",
    .what = "allreduces among threads of equal index, all at the same time",
    .needs = "thread-collectives",
    .timing = Timing::slowest_rank,
    .axes = thread_axes,
    .size_multiple = 4,
    .option = several_threads};

template <ThreadCollectives T>
class AllreduceThreads final : public ThreadSum<T> {
 public:
  AllreduceThreads(T& transport, const Case& point) : ThreadSum<T>(transport, point) {}

 private:
  void operate(int thread) override {
    this->transport_.allreduce(this->channel(thread), this->out(thread), this->in(thread));
  }
};

NHALF_PATTERN(allreduce_threads, AllreduceThreads);

}  // namespace nhalf
