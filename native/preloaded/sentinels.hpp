// nhalf-needs: MPI with Fortran
// Sentinels that Fortran programs pass instead of an address, as constants of C.
#pragma once

#include <dlfcn.h>

#include "preloaded/mpi.hpp"

namespace nhalf::fortran {

/// Returns the address of a sentinel, which is a common block; null without Fortran.
inline const void* sentinel(const char* name) {
  return dlsym(RTLD_DEFAULT, name);
}

/// Converts an address, which may be a sentinel, to C.
inline void* address(void* argument) {
  static const void* in_place = sentinel("mpi_fortran_in_place_");
  static const void* bottom = sentinel("mpi_fortran_bottom_");
  if (argument != nullptr && argument == in_place) return MPI_IN_PLACE;
  if (argument != nullptr && argument == bottom) return MPI_BOTTOM;
  return argument;
}

inline void answer(MPI_Fint* error, int value) {
  if (error != nullptr) *error = value;
}

}  // namespace nhalf::fortran
