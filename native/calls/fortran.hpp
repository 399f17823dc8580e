// nhalf-needs: MPI
// Entry points of Fortran programs. MPICH and its relatives implement them on the calls for C,
// which are counted. Open MPI bypasses these, so its entry points make the calls for C here: the
// names of mpif.h and the module mpi, and the names of mpi_f08, whose last argument may be absent.
#pragma once

#include "preloaded/mpi.hpp"

#if defined(OPEN_MPI)

#include "calls/fortran_arguments.hpp"

#define NHALF_CALL(name, lower, traits, arguments, ...) \
  NHALF_FORTRAN(lower, ([](Arguments& values) { by_type(&MPI_##name, values); }))
#include "calls/by_type.inc"
#undef NHALF_CALL

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

#endif
