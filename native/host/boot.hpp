// SPDX-License-Identifier: Apache-2.0
// What tells one running system from another.
#pragma once

#include <fstream>
#include <string>

namespace nhalf {

/// One for all processes of a host until it starts again; empty where the system has none.
inline std::string boot_id() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  return boot;
}

}  // namespace nhalf
