#pragma once

#include "patterns/bases/threads/thread_operation.hpp"

namespace nhalf {

inline constexpr PatternInfo bcast_threads{
    .name = "bcast-threads",
    .what = "broadcasts among threads of equal index, from rank 0, all at the same time",
    .needs = "thread-collectives",
    .timing = Timing::slowest_rank,
    .axes = thread_axes,
    .option = several_threads};

template <ThreadCollectives T>
class BcastThreads final : public ThreadOperation<T> {
 public:
  BcastThreads(T& transport, const Case& point) : ThreadOperation<T>(transport, point) {}

  bool verify() override {
    const bool gives = this->transport_.rank() == 0;
    for (int thread = 0; thread < this->threads(); ++thread)
      fill(this->in(thread), gives ? seed_of(thread) : 0);
    this->run(1);
    for (int thread = 0; thread < this->threads(); ++thread)
      if (!holds(this->in(thread), seed_of(thread))) return false;
    return true;
  }

 private:
  static std::uint32_t seed_of(int thread) { return static_cast<std::uint32_t>(thread + 1); }
  void operate(int thread) override {
    this->transport_.bcast(this->channel(thread), 0, this->in(thread));
  }
};

NHALF_PATTERN(bcast_threads, BcastThreads);

}  // namespace nhalf
