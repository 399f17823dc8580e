// SPDX-License-Identifier: Apache-2.0
// The time of a program between its calls of MPI: none, or its processor's time by a factor.
#pragma once

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>

#include "fabric/picoseconds.hpp"

namespace nhalf::fabric {

class Computing {
 public:
  void begin(std::uint64_t permille) {
    permille_ = permille;
    resume();
  }
  /// The program goes on.
  void resume() {
    if (permille_ != 0) since_ns_ = processor_ns();
  }
  /// Returns how long it has computed since then.
  Picoseconds since() const {
    return permille_ == 0 ? 0 : (processor_ns() - since_ns_) * permille_;
  }

 private:
  static std::uint64_t processor_ns() {
    timespec used{};
    syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &used);
    return static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000u +
           static_cast<std::uint64_t>(used.tv_nsec);
  }

  std::uint64_t permille_ = 0;
  std::uint64_t since_ns_ = 0;
};

}  // namespace nhalf::fabric
