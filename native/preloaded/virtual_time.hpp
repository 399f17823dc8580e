// Virtual time, where a process has it: its program runs on a virtual network, which is
// loaded with it and says what time it is.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>

namespace nhalf::preloaded {

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
