// Collective operations of several threads at the same time, each on a communicator of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "contract/options.hpp"
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

/// One that adds up the floats of all ranks. They are small whole numbers, so that sums do not
/// depend on the order.
template <ThreadCollectives T>
class ThreadSum : public ThreadOperation<T> {
 public:
  bool verify() override {
    for (int thread = 0; thread < this->threads(); ++thread)
      give(floats(this->out(thread)), floats(this->in(thread)), thread);
    this->run(1);
    for (int thread = 0; thread < this->threads() && has_sum(); ++thread)
      if (!is_sum(floats(this->in(thread)), thread)) return false;
    return true;
  }

 protected:
  ThreadSum(T& transport, const Case& point) : ThreadOperation<T>(transport, point) {
    if (point.size_bytes % sizeof(float) != 0)
      throw InputError("sums are of floats: give a multiple of 4 bytes");
  }

  /// Whether this rank gets the sum.
  [[nodiscard]] virtual bool has_sum() const { return true; }

 private:
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

}  // namespace nhalf
