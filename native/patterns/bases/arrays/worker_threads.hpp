// OpenMP threads of one rank, where the probe was built with them.
#pragma once

#include <pthread.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "contract/options.hpp"
#include "host/cores.hpp"

namespace nhalf {
#ifdef _OPENMP
inline constexpr bool has_openmp = true;
#else
inline constexpr bool has_openmp = false;
#endif

/// So many threads that work for a rank, each on a core of its own; the rank is the first of them,
/// and goes back to its cores in the end.
class WorkerThreads {
 public:
  /// `wanted` is a number or "all": as many as this process has cores. Throws InputError where it
  /// has fewer, or where the probe was built without OpenMP.
  WorkerThreads(const std::string& setting, int rank) : cpus_(allowed_cpus(getpid())) {
    const Options options = Options::parse("threads=" + setting, ',');
    count_ = setting == "all" ? static_cast<int>(cpus_.size()) : options.number("threads", 1);
    if (setting == "all" && !has_openmp) count_ = 1;
    if (count_ < 1) throw InputError("axis threads is 1 or more, or all");
    if (count_ == 1) return;
    if (!has_openmp)
      throw InputError("threads=" + setting + ": this probe was built without OpenMP");
    if (static_cast<std::size_t>(count_) > cpus_.size())
      throw InputError("threads=" + setting + ": this rank may run on " +
                       std::to_string(cpus_.size()) + " cores; try --placement free");
    pthread_getaffinity_np(pthread_self(), sizeof before_, &before_);
    each([this, rank](int thread, int) { bind(rank * count_ + thread); });
  }
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;
  ~WorkerThreads() {
    if (count_ > 1) pthread_setaffinity_np(pthread_self(), sizeof before_, &before_);
  }

  [[nodiscard]] int count() const { return count_; }

  /// Calls `body(thread, threads)` on every thread, and waits for all.
  template <class Body>
  void each(Body body) const {
#ifdef _OPENMP
    if (count_ > 1) {
#pragma omp parallel num_threads(count_)
      body(omp_get_thread_num(), omp_get_num_threads());
      return;
    }
#endif
    body(0, 1);
  }

 private:
  void bind(int place) const {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(cpus_[static_cast<std::size_t>(place) % cpus_.size()]), &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);
  }

  std::vector<int> cpus_;
  int count_ = 1;
  cpu_set_t before_{};
};
}  // namespace nhalf
