// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI with Fortran
// What Fortran programs pass instead of an address, and C has as a constant.
#pragma once

#include <dlfcn.h>

#include "preloaded/mpi.hpp"

namespace nhalf::fortran {

/// The common block of a sentinel: its address is what programs pass. Null where no Fortran is.
inline const void* sentinel(const char* name) {
  return dlsym(RTLD_DEFAULT, name);
}

/// An address as C has it.
inline void* address(void* given) {
  static const void* in_place = sentinel("mpi_fortran_in_place_");
  static const void* bottom = sentinel("mpi_fortran_bottom_");
  if (given != nullptr && given == in_place) return MPI_IN_PLACE;
  if (given != nullptr && given == bottom) return MPI_BOTTOM;
  return given;
}

inline void answer(MPI_Fint* error, int value) {
  if (error != nullptr) *error = value;
}

}  // namespace nhalf::fortran
