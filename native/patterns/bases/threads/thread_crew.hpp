// Threads of each rank that communicate at the same time, each by a channel and in memory of its
// own.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "contract/blocks.hpp"
#include "contract/buffer.hpp"
#include "contract/pattern.hpp"
#include "contract/thread_multiple.hpp"
#include "patterns/bases/threads/crew.hpp"

namespace nhalf {

/// The option by which MPI is started for them.
inline constexpr std::string_view several_threads = "threads=1";

inline constexpr std::array thread_axes{
    AxisInfo{"threads", "1,2,4", "", "1 to 64: threads of each rank, all at the same time"}};

/// `work(thread, rounds)` is what a thread does in a batch; time is that of the slowest thread.
template <ThreadMultiple T>
class ThreadCrew : public Pattern {
 public:
  ~ThreadCrew() override {
    for (auto& channel : channels_) transport_.close(channel);
  }

  void run(std::uint64_t rounds) override {
    if (takes_part_) crew_.run(rounds);
  }
  [[nodiscard]] std::optional<std::uint64_t> moved_bytes() const override {
    return static_cast<std::uint64_t>(threads_) * size_bytes_;
  }

 protected:
  ThreadCrew(T& transport, const Case& point, bool takes_part, bool own_channels)
      : transport_(transport),
        takes_part_(takes_part),
        size_bytes_(point.size_bytes),
        threads_(checked(transport, point)),
        out_(static_cast<std::size_t>(threads_) * size_bytes_),
        in_(static_cast<std::size_t>(threads_) * size_bytes_),
        channels_(channels(transport, threads_, own_channels)),
        crew_(takes_part ? threads_ : 1,
              [this](int thread, std::uint64_t rounds) { work(thread, rounds); }) {}

  /// Called at ranks that take part only.
  virtual void work(int thread, std::uint64_t rounds) = 0;

  [[nodiscard]] bool takes_part() const { return takes_part_; }
  [[nodiscard]] int threads() const { return threads_; }
  [[nodiscard]] Bytes out(int thread) { return block_of(out_.bytes(), thread, size_bytes_); }
  [[nodiscard]] Bytes in(int thread) { return block_of(in_.bytes(), thread, size_bytes_); }
  typename T::ThreadChannel& channel(int thread) {
    return channels_[static_cast<std::size_t>(thread)];
  }

  using Pattern::run;
  T& transport_;

 private:
  static int checked(const T& transport, const Case& point) {
    if (!transport.is_thread_multiple())
      throw InputError(
          "MPI was not started for several threads: give --setting 'several: mpi.threads=1'");
    return point.axis("threads", 1, 64);
  }
  static std::vector<typename T::ThreadChannel> channels(T& transport, int threads, bool own) {
    std::vector<typename T::ThreadChannel> opened;
    for (int thread = 0; thread < threads; ++thread)
      opened.push_back(transport.thread_channel(thread, own));
    return opened;
  }

  bool takes_part_;
  std::size_t size_bytes_;
  int threads_;
  Buffer out_;
  Buffer in_;
  std::vector<typename T::ThreadChannel> channels_;
  /// Ends before what it works on.
  Crew crew_;
};

}  // namespace nhalf
