#pragma once

#include "patterns/bases/threads/thread_pairs.hpp"

namespace nhalf {

inline constexpr PatternInfo stream_threads{
    .name = "stream-threads",
    .what =
        "each thread of rank 0 pumps messages to one of rank 1, all at the same time; the bytes of "
        "all threads in the time of the slowest",
    .needs = "thread-multiple",
    .rounds_min = 16,
    .acknowledged = true,
    .axes = threads_axes,
    .option = several_threads};

template <ThreadMultiple T>
class StreamThreads final : public ThreadPairs<T> {
 public:
  StreamThreads(T& transport, const Case& point) : ThreadPairs<T>(transport, point) {}

 private:
  void work(int thread, std::uint64_t rounds) override {
    if (this->leads()) {
      for (auto i = rounds; i > 0; --i) this->send(thread, this->out(thread));
      this->recv(thread, Bytes{});
    } else {
      for (auto i = rounds; i > 0; --i) this->recv(thread, this->in(thread));
      this->send(thread, ConstBytes{});
    }
  }
  [[nodiscard]] bool receives() const override { return this->transport_.rank() == 1; }
};

NHALF_PATTERN(stream_threads, StreamThreads);

}  // namespace nhalf
