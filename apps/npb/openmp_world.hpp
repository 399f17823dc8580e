// The threads of a kernel in OpenMP, and the time that they spend in waiting for each other.
#pragma once

#include <omp.h>

#include <cstddef>
#include <numeric>
#include <vector>

#include "timing/clock.hpp"

namespace nhalf::npb {

/// A team of threads. Kernels let it run their parallel regions, and all waiting is its own, so
/// that it is counted.
class OpenMpWorld {
 public:
  static constexpr bool divides_data = false;

  explicit OpenMpWorld(int thread_count)
      : threads(thread_count), waits_(static_cast<std::size_t>(thread_count)) {}

  int threads = 1;

  /// Every thread runs `body` with its number; all wait for the last one.
  template <class Body>
  void team(Body&& body) {
#pragma omp parallel num_threads(threads)
    {
      body(omp_get_thread_num());
      wait();
    }
  }

  /// All threads of the team have come.
  void wait() {
    wait([] {
#pragma omp barrier
    });
  }

  /// Waits otherwise; the time is counted at the thread that calls it.
  template <class Waiting>
  void wait(Waiting&& waiting) {
    const double began_s = clock_.now_s();
    waiting();
    waits_[static_cast<std::size_t>(omp_get_thread_num())].total_s += clock_.now_s() - began_s;
  }

  void reset_communication() {
    for (auto& wait : waits_) wait.total_s = 0;
  }
  /// Seconds that a thread waited since the reset, as a mean over them: what threads take from each
  /// other is not a call that could be timed.
  [[nodiscard]] double communication_s() const {
    const auto add = [](double sum, const Wait& wait) { return sum + wait.total_s; };
    return std::accumulate(waits_.begin(), waits_.end(), 0.0, add) / threads;
  }

 private:
  /// Waiting time of a thread, aligned to a line to prevent false sharing.
  struct alignas(64) Wait {
    double total_s = 0;
  };

  SteadyClock clock_;
  std::vector<Wait> waits_;
};

}  // namespace nhalf::npb
