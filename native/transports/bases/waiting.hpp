// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// How a rank waits for what another core will write.
#pragma once

#include <sched.h>

#include <thread>

#include "host/waiting_hint.hpp"
#include "transports/bases/mpi_control.hpp"

namespace nhalf {

/// Looks again and again; where ranks outnumber cores the one that is waited for may need this very
/// core, so that others are let run soon.
class Waiting {
 public:
  /// All ranks call it.
  explicit Waiting(MpiControl& control)
      : looks_(cores_of_all(control) >= control.size() ? 4000 : 10) {}

  template <class Ready>
  void until(Ready ready) const {
    for (int looked = 0; !ready(); ++looked) {
      if (looked < looks_) {
        pause_briefly();
      } else {
        std::this_thread::yield();
      }
    }
  }

 private:
  /// How many cores all ranks of one host may run on, together.
  static int cores_of_all(MpiControl& control) {
    cpu_set_t mine;
    CPU_ZERO(&mine);
    sched_getaffinity(0, sizeof mine, &mine);
    cpu_set_t together;
    CPU_ZERO(&together);
    for (const auto& set : control.everybodys(mine)) CPU_OR(&together, &together, &set);
    return CPU_COUNT(&together);
  }

  int looks_;
};

}  // namespace nhalf
