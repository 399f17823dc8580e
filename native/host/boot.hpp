// SPDX-License-Identifier: Apache-2.0
// What tells one running system from another.
#pragma once

#include <algorithm>
#include <string>

#include "host/text_file.hpp"

namespace nhalf {

/// One for all processes of a host until it starts again; empty where the system has none.
inline std::string boot_id() {
  auto boot = text_of("/proc/sys/kernel/random/boot_id");
  return boot.erase(std::min(boot.find_last_not_of('\n') + 1, boot.size()));
}

}  // namespace nhalf
