// nhalf-needs: MPI
// The ranks of a kernel that each have a team of threads; the first thread of each calls MPI.
#pragma once

#include <mpi.h>
#include <omp.h>
#include <sched.h>

#include <cstddef>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "apps/npb/mpi_world.hpp"
#include "apps/npb/openmp_world.hpp"
#include "host/cores.hpp"

namespace nhalf::npb {

/// All ranks, each with as many threads as were set. A rank that was bound gives each thread a core
/// of its own, as far as the host has as many; threads of others move as the system decides.
class HybridWorld : public MpiWorld {
 public:
  HybridWorld() : is_bound_(allowed_cpus().size() == 1) {
    MPI_Comm host = MPI_COMM_NULL;
    MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, &place_);
    MPI_Comm_size(host, &neighbours_);
    MPI_Comm_free(&host);
    if (is_bound_) cores_ = whole_cores();
    set_threads(1);
  }

  void set_threads(int count) {
    team_.emplace(count);
    if (is_bound_) team_->team([&](int thread) { bind(thread); });
  }
  /// The threads of this rank.
  [[nodiscard]] OpenMpWorld& team() { return *team_; }

 private:
  static void allow(const std::vector<int>& cpus) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int cpu : cpus) CPU_SET(static_cast<std::size_t>(cpu), &set);
    static_cast<void>(sched_setaffinity(0, sizeof set, &set));
  }

  /// The cores that this process may be given, of each the first hardware thread.
  static std::vector<int> whole_cores() {
    cpu_set_t every;
    CPU_ZERO(&every);
    for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) CPU_SET(cpu, &every);
    static_cast<void>(sched_setaffinity(0, sizeof every, &every));
    std::vector<int> cores;
    for (const int cpu : allowed_cpus()) {
      std::ifstream siblings("/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                             "/topology/thread_siblings_list");
      int first = cpu;
      if (!(siblings >> first) || first == cpu) cores.push_back(cpu);
    }
    return cores;
  }

  void bind(int thread) const {
    const auto place = static_cast<std::size_t>(place_ * team_->threads + thread);
    const auto wanted = static_cast<std::size_t>(neighbours_ * team_->threads);
    allow(wanted <= cores_.size() ? std::vector{cores_[place]} : cores_);
  }

  bool is_bound_;
  int place_ = 0, neighbours_ = 1;
  std::vector<int> cores_;
  std::optional<OpenMpWorld> team_;
};

}  // namespace nhalf::npb
