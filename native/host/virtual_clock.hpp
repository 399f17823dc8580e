// The clock of a virtual network (fabric/), on which this process may run: the network is
// preloaded, and found by the names of what it exports.
#pragma once

#include <dlfcn.h>
#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace nhalf::preloaded {
// Virtual time, where a process has it: its program runs on a virtual network, which is
// loaded with it and says what time it is.

/// Returns the time of this rank in picoseconds; reading it costs the rank nothing.
using VirtualTime = std::uint64_t (*)();

/// Names the ranks' shared memory; set for processes with virtual time only.
inline constexpr const char* virtual_variable = "NHALF_FABRIC";

/// Returns the clock of the virtual network; null for a process in real time.
inline VirtualTime virtual_time() {
  return std::getenv(virtual_variable) == nullptr
             ? nullptr
             : reinterpret_cast<VirtualTime>(dlsym(RTLD_DEFAULT, "nhalf_virtual_time_ps"));
}
}  // namespace nhalf::preloaded

namespace nhalf {
/// A clock of picoseconds that is one for all ranks, and stands still while they compute.
class VirtualClock {
 public:
  VirtualClock() {
    if (std::getenv(preloaded::virtual_variable) == nullptr) return;
    clock_ps_ = reinterpret_cast<Clock>(dlsym(RTLD_DEFAULT, "nhalf_virtual_clock_ps"));
    sleep_until_ps_ = reinterpret_cast<Sleep>(dlsym(RTLD_DEFAULT, "nhalf_virtual_sleep_until_ps"));
  }

  [[nodiscard]] bool is_here() const { return clock_ps_ != nullptr && sleep_until_ps_ != nullptr; }
  /// Reads it, which takes a moment, so that loops on it end.
  [[nodiscard]] double now_s() const { return in_seconds(clock_ps_()); }
  /// Returns what it shows then.
  double sleep_until(double clock_s) const {
    return in_seconds(sleep_until_ps_(static_cast<std::uint64_t>(std::llround(clock_s * 1e12))));
  }

 private:
  using Clock = std::uint64_t (*)();
  using Sleep = std::uint64_t (*)(std::uint64_t);

  static double in_seconds(std::uint64_t time_ps) { return 1e-12 * static_cast<double>(time_ps); }

  Clock clock_ps_ = nullptr;
  Sleep sleep_until_ps_ = nullptr;
};
}  // namespace nhalf
