// Ends a process whose operation fails while it waits for it, or takes too long: calls of NCCL have
// no limit of their own, and some of them do not return.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

#include "transports/nccl/library.hpp"

namespace nhalf::nccl {
/// Looks four times a second, in a thread of its own, at the operation that is under way.
class Watchdog {
 public:
  /// Throws InputError for a limit that is none.
  Watchdog(int rank, double limit_s)
      : rank_(rank), limit_s_(checked(limit_s)), thread_([this] { watch(); }) {}
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog() {
    {
      const std::lock_guard hold(lock_);
      ended_ = true;
    }
    end_.notify_one();
    thread_.join();
  }

  /// Called before and after each operation.
  void begin() { turns_.fetch_add(1, std::memory_order_relaxed); }
  void end() { turns_.fetch_add(1, std::memory_order_relaxed); }

  /// From now on errors of this communicator end the process, too; of none if it is null.
  void look_at(Communicator communicator) {
    const std::lock_guard hold(lock_);
    communicator_ = communicator;
  }

 private:
  static double checked(double limit_s) {
    if (!(limit_s > 0)) throw InputError("option limit_s is a number of seconds above 0");
    return limit_s;
  }

  void watch() {
    std::uint64_t before = 0;
    double waited_s = 0;
    std::unique_lock hold(lock_);
    while (!end_.wait_for(hold, interval, [&] { return ended_; })) {
      const auto turn = turns_.load(std::memory_order_relaxed);
      const bool is_under_way = turn % 2 == 1;
      waited_s = is_under_way && turn == before ? waited_s + interval.count() : 0;
      before = turn;
      if (!is_under_way) continue;
      int result = success;
      if (communicator_ != nullptr) library().asynchronous_error(communicator_, &result);
      if (result != success && result != in_progress)
        give_up(library().failure(result, "an operation under way"));
      if (waited_s >= limit_s_)
        give_up(
            "NCCL's start, or an operation, took longer than limit_s allows; NCCL_DEBUG=WARN "
            "says more");
    }
  }

  /// Only the thread of a rank may call MPI: whoever started the ranks ends the others.
  [[noreturn]] void give_up(const std::string& reason) const {
    std::fprintf(stderr, "probe: rank %d: %s\n", rank_, reason.c_str());
    std::_Exit(1);
  }

  static constexpr std::chrono::duration<double> interval{0.25};
  int rank_;
  double limit_s_;
  std::atomic<std::uint64_t> turns_ = 0;
  std::mutex lock_;
  Communicator communicator_ = nullptr;
  std::condition_variable end_;
  bool ended_ = false;
  std::thread thread_;
};
}  // namespace nhalf::nccl
