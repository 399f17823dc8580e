// The time of a program between its calls of MPI: none, or its processor's time by a factor. Of
// several threads it is the longest time of one, as if each had a core of its own; those that have
// ended meanwhile count as one.
#pragma once

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>

#include "fabric/thread_times.hpp"
#include "network/picoseconds.hpp"

namespace nhalf::fabric {

using network::Picoseconds;

class Computing {
 public:
  void begin(std::uint64_t permille) {
    permille_ = permille;
    resume();
  }
  /// The program goes on.
  void resume() {
    if (permille_ == 0) return;
    thread_ = own_thread();
    since_ns_ = processor_ns(CLOCK_THREAD_CPUTIME_ID);
    all_since_ns_ = processor_ns(CLOCK_PROCESS_CPUTIME_ID);
    if (all_since_ns_ - since_ns_ > little_ns)
      threads_.read();
    else
      threads_.begin(thread_, since_ns_);
  }
  /// Returns how long it has computed since then.
  [[nodiscard]] Picoseconds since() const {
    if (permille_ == 0) return 0;
    const auto own_ns = processor_ns(CLOCK_THREAD_CPUTIME_ID) - since_ns_;
    const auto all_ns = processor_ns(CLOCK_PROCESS_CPUTIME_ID) - all_since_ns_;
    // The others together have done less.
    if (thread_ == own_thread() && all_ns <= 2 * own_ns) return own_ns * permille_;
    return threads_.longest_ns(all_ns) * permille_;
  }

 private:
  /// What other threads may have computed ever without being looked at.
  static constexpr std::uint64_t little_ns = 100'000;

  static std::int32_t own_thread() { return static_cast<std::int32_t>(syscall(SYS_gettid)); }

  std::uint64_t permille_ = 0;
  std::uint64_t since_ns_ = 0;
  std::uint64_t all_since_ns_ = 0;
  std::int32_t thread_ = 0;
  ThreadTimes threads_;
};

}  // namespace nhalf::fabric
