// Threads of one rank that do the same at the same time, again and again.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

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

}  // namespace nhalf
