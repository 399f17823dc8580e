// SPDX-License-Identifier: Apache-2.0
// Whether ranks outnumber the cores that they may use.
#pragma once

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace nhalf::coll {

/// The cores of every rank of a communicator, in shared memory.
class Crowd {
 public:
  static constexpr std::size_t size_bytes(int ranks) {
    return sizeof(cpu_set_t) * static_cast<std::size_t>(ranks);
  }
  Crowd(std::byte* memory, int ranks) : memory_(memory), ranks_(ranks) {}

  /// Tells which cores this rank may use.
  void enter(int rank) {
    cpu_set_t own;
    CPU_ZERO(&own);
    // A machine with more cores than the set has room for: then none are known.
    sched_getaffinity(0, sizeof own, &own);
    std::memcpy(memory_ + size_bytes(rank), &own, sizeof own);
  }

  /// True where the ranks of the communicator have fewer cores than they are, or those of the job
  /// have on this node; after all have entered.
  [[nodiscard]] bool is_crowded() const {
    cpu_set_t all;
    CPU_ZERO(&all);
    for (int rank = 0; rank < ranks_; ++rank) {
      cpu_set_t one;
      std::memcpy(&one, memory_ + size_bytes(rank), sizeof one);
      CPU_OR(&all, &all, &one);
    }
    const int cores = CPU_COUNT(&all);
    return (cores > 0 && ranks_ > cores) || node_ranks() > sysconf(_SC_NPROCESSORS_ONLN);
  }

 private:
  /// The ranks of the job on this node, as launchers tell it; 0 where none does.
  static long node_ranks() {
    long most = 0;
    for (const char* name : {"MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE", "PALS_LOCAL_SIZE",
                             "MV2_COMM_WORLD_LOCAL_SIZE"})
      if (const char* value = std::getenv(name)) most = std::max(most, std::atol(value));
    return most;
  }

  std::byte* memory_;
  int ranks_;
};

}  // namespace nhalf::coll
