#pragma once

#include "patterns/bases/threads/thread_pairs.hpp"

namespace nhalf {

inline constexpr PatternInfo pingpong_threads{
    .name = "pingpong-threads",
    .what =
        "ping-pong between each thread of rank 0 and one of rank 1, all at the same time; time is "
        "half the round trip",
    .needs = "thread-multiple",
    .messages_per_round = 2,
    .axes = threads_axes,
    .option = several_threads};

template <ThreadMultiple T>
class PingPongThreads final : public ThreadPairs<T> {
 public:
  PingPongThreads(T& transport, const Case& point) : ThreadPairs<T>(transport, point) {}

 private:
  void work(int thread, std::uint64_t rounds) override {
    for (auto i = this->leads() ? rounds : 0; i > 0; --i) {
      this->send(thread, this->out(thread));
      this->recv(thread, this->in(thread));
    }
    for (auto i = this->leads() ? 0 : rounds; i > 0; --i) {
      this->recv(thread, this->in(thread));
      this->send(thread, this->out(thread));
    }
  }
};

NHALF_PATTERN(pingpong_threads, PingPongThreads);

}  // namespace nhalf
