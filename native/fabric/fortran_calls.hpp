// nhalf-needs: MPI
// Entry points of Fortran programs that calls/fortran.hpp does not have: the clock and the end.
#pragma once

#include "preloaded/mpi.hpp"

#if defined(OPEN_MPI)

#include "calls/fortran_arguments.hpp"
#include "preloaded/entry.hpp"

static void fortran_abort(MPI_Fint* comm, MPI_Fint* code, MPI_Fint* error) {
  using namespace nhalf::calls::fortran;
  const int result = MPI_Abort(handle(static_cast<MPI_Comm*>(nullptr), *comm), *code);
  nhalf::fortran::answer(error, result);
}

NHALF_ENTRY(mpi_abort_, &fortran_abort)
NHALF_ENTRY(mpi_abort_f08_, &fortran_abort)
NHALF_ENTRY(mpi_wtime_, &virtual_Wtime)
NHALF_ENTRY(mpi_wtime_f08_, &virtual_Wtime)
NHALF_ENTRY(mpi_wtick_, &virtual_Wtick)
NHALF_ENTRY(mpi_wtick_f08_, &virtual_Wtick)

#endif
