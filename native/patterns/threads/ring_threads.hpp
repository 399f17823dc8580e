#pragma once

#include "patterns/bases/threads/thread_messages.hpp"

namespace nhalf {

inline constexpr PatternInfo ring_threads{
    .name = "ring-threads",
    .what =
        "each thread of all ranks, in a ring, exchanges messages with those of both neighbours, "
        "all at the same time",
    .needs = "thread-multiple",
    .timing = Timing::slowest_rank,
    .axes = threads_axes,
    .option = several_threads};

template <ThreadMultiple T>
class RingThreads final : public ThreadMessages<T> {
 public:
  RingThreads(T& transport, const Case& point)
      : ThreadMessages<T>(transport, point, (transport.rank() + 1) % transport.size()) {}

 private:
  void work(int thread, std::uint64_t rounds) override {
    T& transport = this->transport_;
    const int ranks = transport.size();
    const int right = (transport.rank() + 1) % ranks;
    const int previous = (transport.rank() + ranks - 1) % ranks;
    auto& channel = this->channel(thread);
    for (; rounds > 0; --rounds) {
      transport.exchange(channel, right, this->out(thread), previous, this->in(thread));
      transport.exchange(channel, previous, this->out(thread), right, this->in(thread));
    }
  }
};

NHALF_PATTERN(ring_threads, RingThreads);

}  // namespace nhalf
