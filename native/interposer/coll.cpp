// The collective calls of a program; this library is loaded before the program's own MPI library.

#include "interposer/collective_calls.hpp"
#include "interposer/finalize.hpp"
#include "interposer/weak.hpp"
#include "preloaded/entry.hpp"
#include "preloaded/mpi.hpp"

/// A call of the program with the types of the library's own function, where this library serves
/// it.
#define NHALF_ROUTED(name, function) \
  NHALF_ENTRY(MPI_##name, static_cast<decltype(&PMPI_##name)>(&function))

/// A collective call: routed with its arguments, and with the call of the library behind them.
#define NHALF_COLLECTIVE(name, operation)                                                   \
  template <class... Arguments>                                                             \
  static int routed_##name(Arguments... arguments) {                                        \
    return nhalf::coll::operation(arguments..., [=] { return PMPI_##name(arguments...); }); \
  }                                                                                         \
  NHALF_ROUTED(name, routed_##name)

NHALF_PRELOADED("collectives", "collectives are the library's own",
                nhalf::preloaded::open_library_to_all())

// Runs while the process has one thread, since every thread reads the choice.
[[gnu::constructor]] static void choose_memory() {
  nhalf::coll::take_any_memory();
}

static int routed_Init(int* count, char*** words) {
  return nhalf::coll::among_all<decltype(PMPI_Init)>("MPI_Init", count, words);
}
NHALF_ROUTED(Init, routed_Init)

static int routed_Init_thread(int* count, char*** words, int required, int* provided) {
  return nhalf::coll::among_all<decltype(PMPI_Init_thread)>("MPI_Init_thread", count, words,
                                                            required, provided);
}
NHALF_ROUTED(Init_thread, routed_Init_thread)

NHALF_COLLECTIVE(Allgather, allgather)
NHALF_COLLECTIVE(Allreduce, allreduce)
NHALF_COLLECTIVE(Alltoall, alltoall)
NHALF_COLLECTIVE(Barrier, barrier)
NHALF_COLLECTIVE(Bcast, bcast)
NHALF_COLLECTIVE(Gather, gather)
NHALF_COLLECTIVE(Reduce, reduce)
NHALF_COLLECTIVE(Reduce_scatter_block, reduce_scatter_block)
NHALF_COLLECTIVE(Scan, scan)
NHALF_COLLECTIVE(Scatter, scatter)

#if MPI_VERSION >= 4
NHALF_COLLECTIVE(Allgather_c, allgather)
NHALF_COLLECTIVE(Allreduce_c, allreduce)
NHALF_COLLECTIVE(Alltoall_c, alltoall)
NHALF_COLLECTIVE(Bcast_c, bcast)
NHALF_COLLECTIVE(Gather_c, gather)
NHALF_COLLECTIVE(Reduce_c, reduce)
NHALF_COLLECTIVE(Reduce_scatter_block_c, reduce_scatter_block)
NHALF_COLLECTIVE(Scan_c, scan)
NHALF_COLLECTIVE(Scatter_c, scatter)
#endif

// Revoke is not part of the standard; it ends the messages below collectives as well.
NHALF_ENTRY(MPIX_Comm_revoke, &nhalf::coll::revoke)

NHALF_ROUTED(Finalize, nhalf::coll::finalize)

// Entry points of Fortran programs. MPICH and its relatives implement them on the calls for C,
// which are routed. Open MPI bypasses these, so its entry points are routed here: the names of
// mpif.h and the module mpi, and the names of mpi_f08, whose last argument may be absent.
#if defined(OPEN_MPI)
#include "calls/fortran_lists.hpp"

#define NHALF_ROUTED_FORTRAN(lower, function) \
  NHALF_FORTRAN(lower, ([](Arguments& values) { by_type(&function, values); }))

NHALF_FORTRAN(init, init)
NHALF_ROUTED_FORTRAN(init_thread, init_thread)
NHALF_ROUTED_FORTRAN(allgather, MPI_Allgather)
NHALF_ROUTED_FORTRAN(allreduce, MPI_Allreduce)
NHALF_ROUTED_FORTRAN(alltoall, MPI_Alltoall)
NHALF_ROUTED_FORTRAN(barrier, MPI_Barrier)
NHALF_ROUTED_FORTRAN(bcast, MPI_Bcast)
NHALF_ROUTED_FORTRAN(gather, MPI_Gather)
NHALF_ROUTED_FORTRAN(reduce, MPI_Reduce)
NHALF_ROUTED_FORTRAN(reduce_scatter_block, MPI_Reduce_scatter_block)
NHALF_ROUTED_FORTRAN(scan, MPI_Scan)
NHALF_ROUTED_FORTRAN(scatter, MPI_Scatter)
NHALF_ROUTED_FORTRAN(finalize, MPI_Finalize)
#endif
