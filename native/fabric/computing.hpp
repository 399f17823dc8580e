// SPDX-License-Identifier: Apache-2.0
// The time of a program between its calls of MPI: none, or its processor's time by a factor. Of
// several threads it is the longest time of one, as if each had a core of its own.
#pragma once

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>

#include "fabric/picoseconds.hpp"
#include "fabric/thread_times.hpp"

namespace nhalf::fabric {

class Computing {
 public:
  void begin(std::uint64_t permille) {
    permille_ = permille;
    if (permille_ != 0) threads_.read();
    resume();
  }
  /// The program goes on.
  void resume() {
    if (permille_ == 0) return;
    if (has_threads_) threads_.read();
    thread_ = own_thread();
    since_ns_ = processor_ns(CLOCK_THREAD_CPUTIME_ID);
    all_since_ns_ = processor_ns(CLOCK_PROCESS_CPUTIME_ID);
  }
  /// Returns how long it has computed since then.
  Picoseconds since() {
    if (permille_ == 0) return 0;
    const auto own_ns = processor_ns(CLOCK_THREAD_CPUTIME_ID) - since_ns_;
    if (thread_ == own_thread()) {
      const auto all_ns = processor_ns(CLOCK_PROCESS_CPUTIME_ID) - all_since_ns_;
      // The others together have done less.
      if (all_ns <= 2 * own_ns) return own_ns * permille_;
    }
    has_threads_ = true;
    return threads_.longest_since_read_ns() * permille_;
  }

 private:
  static std::int32_t own_thread() { return static_cast<std::int32_t>(syscall(SYS_gettid)); }

  std::uint64_t permille_ = 0;
  std::uint64_t since_ns_ = 0;
  std::uint64_t all_since_ns_ = 0;
  std::int32_t thread_ = 0;
  bool has_threads_ = false;
  ThreadTimes threads_;
};

}  // namespace nhalf::fabric
