// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// Whether everything that a program sends passes the network. A library that takes a way of its
// own, such as shared memory, gives wrong times without an error.
#pragma once

#include <cstdint>
#include <cstdio>

#include "fabric/interface.hpp"
#include "fabric/operations.hpp"
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
  /// Begins to count what the program sends; libraries have sent messages of their own before.
  void begin(const Interface& network) { earlier_messages_ = network.sent_messages(); }
  void note_sent(const Amount& amount) {
    sent_.bytes += amount.bytes;
    sent_.messages += amount.messages;
  }

  /// Returns the number of ranks of a communicator that has others to reach, else 0.
  static int ranks_in(MPI_Comm comm) {
    int ranks = 0;
    int is_between = 0;
    NHALF_OWN(Comm_size)(comm, &ranks);
    NHALF_OWN(Comm_test_inter)(comm, &is_between);
    return ranks < 2 || is_between != 0 ? 0 : ranks;
  }
  /// Ends the run because an operation that must move bytes between ranks took no time.
  static void refuse(const Interface& network, const char* name, int ranks) {
    if (ranks == 0) return;
    char reason[96];
    std::snprintf(reason, sizeof reason, "%s on %d ranks took no time", name, ranks);
    network.stop("bypass", reason);
  }

  /// Ends the run if less passed the network than the program sent.
  void check_total(const Interface& network) const {
    check(network, "bytes", sent_.bytes, network.sent_bytes());
    check(network, "messages", sent_.messages, network.sent_messages() - earlier_messages_);
  }

 private:
  static void check(const Interface& network, const char* what, std::uint64_t sent,
                    std::uint64_t passed) {
    if (passed >= sent) return;
    char reason[128];
    std::snprintf(reason, sizeof reason, "of %llu %s that a rank sent, %llu passed the network",
                  static_cast<unsigned long long>(sent), what,
                  static_cast<unsigned long long>(passed));
    network.stop("bypass", reason);
  }

  Amount sent_;
  std::uint64_t earlier_messages_ = 0;
};

}  // namespace nhalf::fabric
