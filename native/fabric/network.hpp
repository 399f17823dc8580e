// SPDX-License-Identifier: Apache-2.0
// Finds the network that this process was started with.
#pragma once

#include <dlfcn.h>

#include <cstdlib>

#include "fabric/interface.hpp"

namespace nhalf::fabric {

/// Returns the network; null for a process that was started without one.
inline const Interface* network() {
  static const Interface* const exported = [] {
    return std::getenv("NHALF_FABRIC") == nullptr
               ? nullptr
               : static_cast<const Interface*>(dlsym(RTLD_DEFAULT, "nhalf_fabric"));
  }();
  return exported;
}

}  // namespace nhalf::fabric
