// SPDX-License-Identifier: Apache-2.0
// What a rank exceeds of the network's memory and time, in words.
#pragma once

#include <cstddef>
#include <string>

#include "fabric/picoseconds.hpp"

namespace nhalf::fabric {

inline std::string memory_exceeded(int rank, const char* call, std::size_t size_bytes) {
  return "rank " + std::to_string(rank) + " sends in " + call +
         ", and messages that nobody has received fill the memory of the virtual network (" +
         std::to_string(size_bytes >> 20) + " MiB)";
}

inline std::string time_exceeded(int rank) {
  return "rank " + std::to_string(rank) +
         " sleeps or waits until after the end of virtual time, which is " +
         std::to_string(last_day) + " days";
}

}  // namespace nhalf::fabric
