// Identifies the running system.
#pragma once

#include <algorithm>
#include <string>

#include "host/text_file.hpp"

namespace nhalf {

/// Returns the boot identifier, equal for all processes of a host until it reboots; may be empty.
inline std::string boot_id() {
  auto boot = text_of("/proc/sys/kernel/random/boot_id");
  return boot.erase(std::min(boot.find_last_not_of('\n') + 1, boot.size()));
}

}  // namespace nhalf
