// SPDX-License-Identifier: Apache-2.0
// Threads of two ranks that talk to each other, one to one, at the same time.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "contract/blocks.hpp"
#include "contract/buffer.hpp"
#include "contract/pattern.hpp"
#include "contract/thread_multiple.hpp"
#include "patterns/bases/crew.hpp"

namespace nhalf {

inline constexpr std::array threads_axes{
    AxisInfo{"threads", "1,2,4", "", "1 to 64: threads of each rank, all at the same time"},
    AxisInfo{"communicators", "one,each", "",
             "one: threads have tags of one communicator; each: communicators of their own"}};

/// Each thread of rank 0 talks to the one of rank 1 that has its number, in memory of its own;
/// `talk(thread)` is one round of it. Time is that of the slowest thread at rank 0.
template <ThreadMultiple T>
class ThreadPairs : public Pattern {
 public:
  ~ThreadPairs() override {
    for (auto& channel : channels_) transport_.close(channel);
  }

  void run(std::uint64_t rounds) override {
    if (takes_part()) crew_.run(rounds);
  }
  [[nodiscard]] std::optional<std::uint64_t> moved_bytes() const override {
    return static_cast<std::uint64_t>(threads_) * size_bytes_;
  }

  bool verify() override {
    for (int thread = 0; thread < threads_; ++thread) {
      fill(out(thread), seed_of(transport_.rank(), thread));
      fill(in(thread), seed_of(2, thread));
    }
    run(1);
    for (int thread = 0; thread < threads_ && receives(); ++thread)
      if (!holds(in(thread), seed_of(peer(), thread))) return false;
    return true;
  }

 protected:
  ThreadPairs(T& transport, const Case& point)
      : transport_(transport),
        size_bytes_(point.size_bytes),
        threads_(checked(transport, point)),
        out_(static_cast<std::size_t>(threads_) * size_bytes_),
        in_(static_cast<std::size_t>(threads_) * size_bytes_),
        channels_(channels(transport, point, threads_)),
        crew_(takes_part() ? threads_ : 1,
              [this](int thread, std::uint64_t rounds) { work(thread, rounds); }) {}

  /// What a thread does in a batch; called at ranks 0 and 1 only.
  virtual void work(int thread, std::uint64_t rounds) = 0;
  [[nodiscard]] virtual bool receives() const { return takes_part(); }

  [[nodiscard]] bool takes_part() const { return transport_.rank() < 2; }
  [[nodiscard]] bool leads() const { return transport_.rank() == 0; }
  [[nodiscard]] int peer() const { return 1 - transport_.rank(); }
  [[nodiscard]] Bytes out(int thread) { return block_of(out_.bytes(), thread, size_bytes_); }
  [[nodiscard]] Bytes in(int thread) { return block_of(in_.bytes(), thread, size_bytes_); }
  void send(int thread, ConstBytes data) {
    transport_.send(channels_[static_cast<std::size_t>(thread)], peer(), data);
  }
  void recv(int thread, Bytes data) {
    transport_.recv(channels_[static_cast<std::size_t>(thread)], peer(), data);
  }

  using Pattern::run;
  T& transport_;

 private:
  static std::uint32_t seed_of(int rank, int thread) {
    return static_cast<std::uint32_t>(3 * thread + rank + 2);
  }
  static int checked(const T& transport, const Case& point) {
    if (!transport.is_thread_multiple())
      throw InputError(
          "MPI was not started for several threads: give --setting 'several: mpi.threads=1'");
    return point.axis("threads", 1, 64);
  }
  static std::vector<typename T::ThreadChannel> channels(T& transport, const Case& point,
                                                         int threads) {
    constexpr std::string_view words[] = {"one", "each"};
    const bool own = point.choice("communicators", words) == 1;
    std::vector<typename T::ThreadChannel> made;
    for (int thread = 0; thread < threads; ++thread)
      made.push_back(transport.thread_channel(thread, own));
    return made;
  }

  std::size_t size_bytes_;
  int threads_;
  Buffer out_;
  Buffer in_;
  std::vector<typename T::ThreadChannel> channels_;
  /// Ends before what it works on.
  Crew crew_;
};

}  // namespace nhalf
