// Messages between threads of different ranks that have the same number.
#pragma once

#include "patterns/bases/collectives/operation.hpp"
#include "patterns/bases/pair.hpp"
#include "patterns/bases/threads/thread_crew.hpp"

namespace nhalf {
inline constexpr std::array communicators_axis{
    AxisInfo{"communicators", "one,each", "",
             "one: threads have tags of one communicator; each: communicators of their own"}};
inline constexpr auto threads_axes = joined(thread_axes, communicators_axis);

/// What comes last to a rank comes from `source`; below 0: this rank takes no part.
template <ThreadMultiple T>
class ThreadMessages : public ThreadCrew<T> {
 public:
  bool verify() override {
    for (int thread = 0; thread < this->threads(); ++thread) {
      fill(this->out(thread), seed_of(this->transport_.rank(), thread));
      fill(this->in(thread), seed_of(-1, thread));
    }
    this->run(1);
    for (int thread = 0; thread < this->threads() && receives(); ++thread)
      if (!holds(this->in(thread), seed_of(source_, thread))) return false;
    return true;
  }

 protected:
  ThreadMessages(T& transport, const Case& point, int source)
      : ThreadCrew<T>(transport, point, source >= 0, has_own_channels(point)), source_(source) {}

  [[nodiscard]] virtual bool receives() const { return this->takes_part(); }

 private:
  static bool has_own_channels(const Case& point) {
    constexpr std::string_view words[] = {"one", "each"};
    return point.choice("communicators", words) == 1;
  }
  static std::uint32_t seed_of(int rank, int thread) {
    return static_cast<std::uint32_t>(67 * (rank + 1) + thread + 1);
  }

  int source_;
};

/// What is said of every one of these patterns, beside what `info` has.
constexpr PatternInfo messages_of_threads(PatternInfo info) {
  info.needs = "thread-multiple";
  info.axes = threads_axes;
  info.option = several_threads;
  return info;
}

/// Each thread of rank 0 talks to the one of rank 1 that has its number; further ranks take no
/// part.
template <ThreadMultiple T>
class ThreadPairs : public ThreadMessages<T> {
 protected:
  ThreadPairs(T& transport, const Case& point)
      : ThreadMessages<T>(transport, point, transport.rank() < 2 ? 1 - transport.rank() : -1) {}

  [[nodiscard]] bool leads() const { return this->transport_.rank() == 0; }
  [[nodiscard]] int peer() const { return 1 - this->transport_.rank(); }
  void send(int thread, ConstBytes data) {
    this->transport_.send(this->channel(thread), peer(), data);
  }
  void recv(int thread, Bytes data) { this->transport_.recv(this->channel(thread), peer(), data); }
};

inline constexpr auto pingpong_threads = messages_of_threads(
    {.name = "pingpong-threads",
     .what =
         "ping-pong between each thread of rank 0 and one of rank 1, all at the same time; time is "
         "half the round trip",
     .messages_per_round = 2});

template <ThreadMultiple T>
class PingPongThreads final : public ThreadPairs<T> {
 public:
  PingPongThreads(T& transport, const Case& point) : ThreadPairs<T>(transport, point) {}

 private:
  void work(int thread, std::uint64_t rounds) override {
    take_turns(
        rounds, this->leads(), [&] { this->send(thread, this->out(thread)); },
        [&] { this->recv(thread, this->in(thread)); });
  }
};
NHALF_PATTERN(pingpong_threads, PingPongThreads);

inline constexpr auto pingping_threads =
    messages_of_threads({.name = "pingping-threads",
                         .what = "each thread of ranks 0 and 1 sends to that of the other rank and "
                                 "receives from it, all at the same time"});
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

inline constexpr auto stream_threads = messages_of_threads(
    {.name = "stream-threads",
     .what = "each thread of rank 0 pumps messages to one of rank 1, all at the same time; the "
             "bytes of all threads in the time of the slowest",
     .rounds_min = 16,
     .acknowledged = true});

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

inline constexpr auto bibw_threads =
    messages_of_threads({.name = "bibw-threads",
                         .what = "each thread of ranks 0 and 1 pumps messages to that of the other "
                                 "rank, windows of 64 at a time, all at the same time",
                         .bytes_factor = 2,
                         .rounds_min = 16});
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

inline constexpr auto ring_threads =
    messages_of_threads({.name = "ring-threads",
                         .what = "each thread of all ranks, in a ring, exchanges messages with "
                                 "those of both neighbours, all at the same time",
                         .timing = Timing::slowest_rank});
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
