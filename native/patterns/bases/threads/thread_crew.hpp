// Threads of each rank that communicate at the same time, each by a channel and in memory of its
// own.
#pragma once

#include <atomic>
#include <functional>

#include "contract/messages.hpp"
#include "contract/pattern.hpp"

namespace nhalf {
/// The calling thread is the first of the crew, so that a crew of one costs nothing.
class Crew {
 public:
  using Work = std::function<void(int thread, std::uint64_t rounds)>;

  Crew(int threads, Work work) : work_(std::move(work)) {
    for (int thread = 1; thread < threads; ++thread)
      threads_.emplace_back([this, thread] { serve(thread); });
  }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew() {
    ends_ = true;
    next_turn();
    for (auto& thread : threads_) thread.join();
  }

  /// All do their rounds; returns when the last has done them.
  void run(std::uint64_t rounds) {
    rounds_ = rounds;
    working_.store(static_cast<int>(threads_.size()), std::memory_order_relaxed);
    if (!threads_.empty()) next_turn();
    work_(0, rounds);
    for (int running = working_.load(); running > 0; running = working_.load())
      working_.wait(running);
  }

 private:
  void next_turn() {
    turn_.fetch_add(1);
    turn_.notify_all();
  }
  void serve(int thread) {
    if (memory_source.device != nullptr) memory_source.device->enter();
    for (std::uint64_t generation = 0;;) {
      turn_.wait(generation);
      generation = turn_.load();
      if (ends_) return;
      work_(thread, rounds_);
      if (working_.fetch_sub(1) == 1) working_.notify_one();
    }
  }

  Work work_;
  std::atomic<std::uint64_t> turn_{0};
  std::atomic<int> working_{0};
  std::atomic<bool> ends_{false};
  std::uint64_t rounds_ = 0;
  std::vector<std::thread> threads_;
};

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
