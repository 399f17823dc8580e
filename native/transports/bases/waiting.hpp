// nhalf-needs: MPI
// Waits of MPI ranks for memory that another core will write.
#pragma once

#include <sched.h>

#include "transports/bases/mpi_control.hpp"
#include "transports/bases/patience.hpp"
#include "transports/bases/peer_watch.hpp"

namespace nhalf {

/// Patience with all ranks of the program, as many as there are cores for them. Throws PeerEnded
/// where one of them has gone.
class Waiting : public Patience {
 public:
  /// Decides how to wait; collective.
  explicit Waiting(MpiControl& control)
      : Patience(PeerWatch::of(control), cores_of_all(control) < control.size()) {}

 private:
  /// Returns the number of cores that all ranks of a host may run on.
  static int cores_of_all(MpiControl& control) {
    cpu_set_t mine;
    CPU_ZERO(&mine);
    sched_getaffinity(0, sizeof mine, &mine);
    cpu_set_t together;
    CPU_ZERO(&together);
    for (const auto& set : control.everybodys(mine)) CPU_OR(&together, &together, &set);
    return CPU_COUNT(&together);
  }
};

}  // namespace nhalf
