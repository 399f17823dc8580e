#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "patterns/bases/threads/thread_pairs.hpp"
#include "patterns/bases/window.hpp"

namespace nhalf {

inline constexpr PatternInfo bibw_threads{
    .name = "bibw-threads",
    .what =
        "each thread of ranks 0 and 1 pumps messages to that of the other rank, windows of 64 at a "
        "time, all at the same time",
    .needs = "thread-multiple",
    .bytes_factor = 2,
    .rounds_min = 16,
    .axes = threads_axes,
    .option = several_threads};

template <ThreadMultiple T>
class BibwThreads final : public ThreadPairs<T> {
 public:
  BibwThreads(T& transport, const Case& point)
      : ThreadPairs<T>(transport, point),
        sends_(message_window * static_cast<std::size_t>(this->threads())) {}

  [[nodiscard]] std::optional<std::uint64_t> moved_bytes() const override {
    return 2 * *ThreadPairs<T>::moved_bytes();
  }

 private:
  void work(int thread, std::uint64_t rounds) override {
    const auto own = std::span(sends_).subspan(message_window * static_cast<std::size_t>(thread),
                                               message_window);
    windows(rounds, own.size(), [&](std::size_t together) {
      const auto some = own.first(together);
      for (auto& sent : some)
        sent = this->transport_.isend(this->channel(thread), this->peer(), this->out(thread));
      for (auto remaining = together; remaining > 0; --remaining)
        this->recv(thread, this->in(thread));
      wait_all(this->transport_, some);
    });
  }

  std::vector<typename T::Request> sends_;
};

NHALF_PATTERN(bibw_threads, BibwThreads);

}  // namespace nhalf
