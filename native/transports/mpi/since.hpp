// nhalf-needs: MPI
// What a library's header has of later standards.
#pragma once

#include <mpi.h>

/// Persistent collectives, partitioned messages and sessions. Open MPI has had them since 5.0 but
/// still calls itself 3.1.
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define NHALF_MPI_4
#endif
