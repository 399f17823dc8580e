// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// Whether everything that a program sends passes the network. A library that takes a way of its
// own, such as shared memory, gives wrong times without an error.
#pragma once

#include <cstdint>
#include <cstdio>

#include "fabric/interface.hpp"
#include "fabric/roles.hpp"
#include "preloaded/mpi.hpp"
#include "trace/library.hpp"

namespace nhalf::fabric {

class Guard {
 public:
  static Guard& of_process() {
    static constinit Guard guard;
    return guard;
  }
  void note_sent(std::uint64_t bytes) { bytes_ += bytes; }

  /// Ends the run if an operation that must move bytes between ranks took no time.
  static void check_operation(const Interface& network, const char* name, MPI_Comm comm) {
    int ranks = 0;
    int is_between = 0;
    NHALF_OWN(Comm_size)(comm, &ranks);
    NHALF_OWN(Comm_test_inter)(comm, &is_between);
    if (ranks < 2 || is_between != 0) return;
    char reason[96];
    std::snprintf(reason, sizeof reason, "%s on %d ranks took no time", name, ranks);
    network.stop("bypass", reason);
  }

  /// Ends the run if less passed the network than the program sent.
  void check_total(const Interface& network) const {
    const auto passed = network.sent_bytes();
    if (passed >= bytes_) return;
    char reason[128];
    std::snprintf(reason, sizeof reason, "of %llu bytes that a rank sent, %llu passed the network",
                  static_cast<unsigned long long>(bytes_), static_cast<unsigned long long>(passed));
    network.stop("bypass", reason);
  }

 private:
  std::uint64_t bytes_ = 0;
};

}  // namespace nhalf::fabric
