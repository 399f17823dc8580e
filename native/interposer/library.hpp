// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// Which MPI library the process has.
#pragma once

#include <mpi.h>

#include <array>
#include <string>
#include <string_view>

namespace nhalf::coll {

/// What the library says of itself; empty where it says nothing.
inline const std::string& library_version() {
  static const std::string version = [] {
    // Longer than any library's MPI_MAX_LIBRARY_VERSION_STRING.
    std::array<char, 1 << 15> text{};
    int length = 0;
    if (PMPI_Get_library_version(text.data(), &length) != MPI_SUCCESS) return std::string();
    return std::string(text.data());
  }();
  return version;
}

inline bool library_is(std::string_view name) {
  return library_version().find(name) != std::string::npos;
}

}  // namespace nhalf::coll
