// nhalf-needs: MPI
// Entry points of Fortran programs. MPICH and its relatives implement them on the calls for C,
// which are counted. Open MPI bypasses these, so its entry points make the calls for C here: the
// names of mpif.h and the module mpi, and the names of mpi_f08, whose last argument may be absent.
#pragma once

#include "preloaded/mpi.hpp"

#if defined(OPEN_MPI)

#include "calls/fortran_arguments.hpp"
#include "calls/fortran_lists.hpp"
#include "preloaded/entry.hpp"

/// Takes as many arguments as the longest call, and reads its own only.
#define NHALF_FORTRAN(lower, function)                                                      \
  static void fortran_##lower(void* a0, void* a1, void* a2, void* a3, void* a4, void* a5,   \
                              void* a6, void* a7, void* a8, void* a9, void* a10, void* a11, \
                              void* a12, void* a13) {                                       \
    using namespace nhalf::calls::fortran;                                                  \
    Arguments values{a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13};           \
    function(values);                                                                       \
  }                                                                                         \
  NHALF_ENTRY(mpi_##lower##_, &fortran_##lower)                                             \
  NHALF_ENTRY(mpi_##lower##_f08_, &fortran_##lower)

#define NHALF_COUNT int
#define NHALF_PLACE int
#define NHALF_CALL(name, lower, traits, parameters, arguments, ...) \
  NHALF_FORTRAN(lower, ([](Arguments& values) { by_type(&MPI_##name, values); }))
#include "calls/by_type.inc"
#undef NHALF_CALL
#undef NHALF_COUNT
#undef NHALF_PLACE

NHALF_FORTRAN(init, init)
NHALF_FORTRAN(init_thread, ([](Arguments& values) { by_type(&init_thread, values); }))
NHALF_FORTRAN(finalize, ([](Arguments& values) { by_type(&MPI_Finalize, values); }))
NHALF_FORTRAN(startall, start_all)
NHALF_FORTRAN(waitall, wait_all)
NHALF_FORTRAN(testall, test_all)
NHALF_FORTRAN(waitany, wait_any)
NHALF_FORTRAN(testany, test_any)
NHALF_FORTRAN(waitsome, wait_some)
NHALF_FORTRAN(testsome, test_some)

#undef NHALF_FORTRAN

#endif
