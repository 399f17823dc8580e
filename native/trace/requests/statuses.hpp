// nhalf-needs: MPI
// Reads the size and the cancellation of a message from its status.
#pragma once

#include <cstdint>

#include "calls/library.hpp"
#include "preloaded/mpi.hpp"

namespace nhalf::trace {

[[gnu::always_inline]] inline std::uint64_t size_of(const MPI_Status& status) {
#if defined(OPEN_MPI)
  return static_cast<std::uint64_t>(status._ucount);
#else
  // A size that fits an int is returned sooner.
  int few = 0;
  static auto* const count = NHALF_OWN(Get_count);
  if (count(&status, MPI_BYTE, &few) == MPI_SUCCESS && few >= 0) [[likely]]
    return static_cast<std::uint64_t>(few);
  MPI_Count bytes = 0;
  static auto* const ask = NHALF_OWN(Get_elements_x);
  if (ask(&status, MPI_BYTE, &bytes) != MPI_SUCCESS || bytes < 0) return 0;
  return static_cast<std::uint64_t>(bytes);
#endif
}

inline bool was_cancelled(const MPI_Status& status) {
  int flag = 0;
  NHALF_OWN(Test_cancelled)(&status, &flag);
  return flag != 0;
}

}  // namespace nhalf::trace
