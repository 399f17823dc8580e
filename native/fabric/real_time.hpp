// The real time, by system calls: the C library's calls are virtual here (clock_calls.hpp).
#pragma once

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>

namespace nhalf::fabric {

inline std::uint64_t real_ns() {
  timespec now{};
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

inline void rest(long nanoseconds) {
  const timespec pause{0, nanoseconds};
  syscall(SYS_nanosleep, &pause, nullptr);
}

}  // namespace nhalf::fabric
