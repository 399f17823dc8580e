// nhalf-needs: MPI
// What an MPI library calls itself, and what it can name.
#pragma once

#include <mpi.h>

#include <climits>
#include <cstddef>
#include <cstring>
#include <string>

#include "contract/options.hpp"

namespace nhalf {

/// For transports whose data MPI carries.
class MpiNamed {
 public:
  [[nodiscard]] std::string library() const {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(text, &length);
    // Some libraries count the NUL at the end.
    return {text, strnlen(text, static_cast<std::size_t>(length))};
  }

  /// Checks that messages of this size can be named in an MPI call.
  static void check_size(std::size_t size_bytes) {
    if (size_bytes > INT_MAX)
      throw InputError("messages above 2147483647 bytes do not fit a call of MPI");
  }
};

}  // namespace nhalf
