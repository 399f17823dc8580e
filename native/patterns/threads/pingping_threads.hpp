#pragma once

#include "patterns/bases/threads/thread_pairs.hpp"

namespace nhalf {

inline constexpr PatternInfo pingping_threads{
    .name = "pingping-threads",
    .what =
        "each thread of ranks 0 and 1 sends to that of the other rank and receives from it, all at "
        "the same time",
    .needs = "thread-multiple",
    .axes = threads_axes,
    .option = several_threads};

template <ThreadMultiple T>
class PingPingThreads final : public ThreadPairs<T> {
 public:
  PingPingThreads(T& transport, const Case& point) : ThreadPairs<T>(transport, point) {}

 private:
  void work(int thread, std::uint64_t rounds) override {
    for (; rounds > 0; --rounds)
      this->transport_.exchange(this->channel(thread), this->peer(), this->out(thread),
                                this->peer(), this->in(thread));
  }
};

NHALF_PATTERN(pingping_threads, PingPingThreads);

}  // namespace nhalf
