// Collective operations of several threads at the same time, each on a communicator of its own.
#pragma once

#include "patterns/bases/threads/thread_crew.hpp"

namespace nhalf {
/// Each thread of a rank and those of all other ranks that have its number do `operate(thread)`.
template <ThreadCollectives T>
class ThreadOperation : public ThreadCrew<T> {
 protected:
  ThreadOperation(T& transport, const Case& point) : ThreadCrew<T>(transport, point, true, true) {}

  virtual void operate(int thread) = 0;

 private:
  void work(int thread, std::uint64_t rounds) final {
    for (; rounds > 0; --rounds) operate(thread);
  }
};

/// One that adds up the floats of all ranks, for rank 0 or for all. They are small whole numbers,
/// so that sums do not depend on the order.
template <ThreadCollectives T, bool is_rooted>
class ThreadSum final : public ThreadOperation<T> {
 public:
  ThreadSum(T& transport, const Case& point) : ThreadOperation<T>(transport, point) {
    if (point.size_bytes % sizeof(float) != 0)
      throw InputError("sums are of floats: give a multiple of 4 bytes");
  }

  bool verify() override {
    const bool has_sum = !is_rooted || this->transport_.rank() == 0;
    for (int thread = 0; thread < this->threads(); ++thread)
      give(floats(this->out(thread)), floats(this->in(thread)), thread);
    this->run(1);
    for (int thread = 0; thread < this->threads() && has_sum; ++thread)
      if (!is_sum(floats(this->in(thread)), thread)) return false;
    return true;
  }

 private:
  void operate(int thread) override {
    if constexpr (is_rooted) {
      this->transport_.reduce(this->channel(thread), 0, this->out(thread), this->in(thread));
    } else {
      this->transport_.allreduce(this->channel(thread), this->out(thread), this->in(thread));
    }
  }

  static std::span<float> floats(Bytes data) {
    return {reinterpret_cast<float*>(data.data()), data.size() / sizeof(float)};
  }
  void give(std::span<float> input, std::span<float> sums, int thread) const {
    for (std::size_t i = 0; i < input.size(); ++i) {
      input[i] = static_cast<float>(this->transport_.rank() + thread) + place(i);
      sums[i] = -1;
    }
  }
  [[nodiscard]] bool is_sum(std::span<const float> sums, int thread) const {
    const auto ranks = static_cast<float>(this->transport_.size());
    const float of_ranks = ranks * (ranks - 1) / 2;
    for (std::size_t i = 0; i < sums.size(); ++i)
      if (sums[i] != of_ranks + ranks * (static_cast<float>(thread) + place(i))) return false;
    return true;
  }
  static float place(std::size_t i) { return static_cast<float>(i % 13 + 1); }
};

/// What is said of every one of these patterns, by what their sizes are multiples of; 0: no size.
constexpr PatternInfo operation_of_threads(std::string_view name, std::string_view description,
                                           int size_multiple) {
  return {.name = name,
          .what = description,
          .needs = "thread-collectives",
          .timing = Timing::slowest_rank,
          .axes = thread_axes,
          .sized = size_multiple > 0,
          .size_multiple = size_multiple > 0 ? size_multiple : 1,
          .option = several_threads,
          .on_host = true};
}

inline constexpr auto barrier_threads = operation_of_threads(
    "barrier-threads", "barriers among threads of equal index, all at the same time", 0);
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

inline constexpr auto bcast_threads = operation_of_threads(
    "bcast-threads", "broadcasts among threads of equal index, from rank 0, all at the same time",
    1);
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

inline constexpr auto reduce_threads = operation_of_threads(
    "reduce-threads", "reductions among threads of equal index, to rank 0, all at the same time",
    4);
template <ThreadCollectives T>
using ReduceThreads = ThreadSum<T, true>;
NHALF_PATTERN(reduce_threads, ReduceThreads);

inline constexpr auto allreduce_threads = operation_of_threads(
    "allreduce-threads", "allreduces among threads of equal index, all at the same time", 4);
template <ThreadCollectives T>
using AllreduceThreads = ThreadSum<T, false>;
NHALF_PATTERN(allreduce_threads, AllreduceThreads);
}  // namespace nhalf
