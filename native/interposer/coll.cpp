// The collective calls of a program; this library is loaded before the program's own MPI library.

#include "interposer/allgather.hpp"
#include "interposer/allreduce.hpp"
#include "interposer/alltoall.hpp"
#include "interposer/barrier.hpp"
#include "interposer/bcast.hpp"
#include "interposer/finalize.hpp"
#include "interposer/fortran.hpp"
#include "interposer/gather.hpp"
#include "interposer/reduce.hpp"
#include "interposer/reduce_scatter_block.hpp"
#include "interposer/revoke.hpp"
#include "interposer/scan.hpp"
#include "interposer/scatter.hpp"
#include "interposer/weak.hpp"
#include "preloaded/entry.hpp"
#include "preloaded/mpi.hpp"

/// A call of the program, where this library serves it.
#define NHALF_ROUTED(name, parameters)    \
  static int routed_##name parameters;    \
  NHALF_ENTRY(MPI_##name, &routed_##name) \
  static int routed_##name parameters

NHALF_PRELOADED("collectives", "collectives are the library's own",
                nhalf::preloaded::open_library_to_all())

// Runs while the process has one thread, since every thread reads the choice.
[[gnu::constructor]] static void choose_memory() {
  nhalf::coll::take_any_memory();
}

NHALF_ROUTED(Init, (int* count, char*** words)) {
  return nhalf::coll::among_all<decltype(PMPI_Init)>("MPI_Init", count, words);
}

NHALF_ROUTED(Init_thread, (int* count, char*** words, int required, int* provided)) {
  return nhalf::coll::among_all<decltype(PMPI_Init_thread)>("MPI_Init_thread", count, words,
                                                            required, provided);
}

NHALF_ROUTED(Barrier, (MPI_Comm comm)) {
  return nhalf::coll::barrier(comm);
}

NHALF_ROUTED(Bcast, (void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)) {
  return nhalf::coll::bcast(buffer, count, type, root, comm,
                            [=] { return PMPI_Bcast(buffer, count, type, root, comm); });
}

#if MPI_VERSION >= 4
NHALF_ROUTED(Bcast_c, (void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm)) {
  return nhalf::coll::bcast(buffer, count, type, root, comm,
                            [=] { return PMPI_Bcast_c(buffer, count, type, root, comm); });
}
#endif

NHALF_ROUTED(Reduce, (const void* in, void* out, int count, MPI_Datatype type, MPI_Op operation,
                      int root, MPI_Comm comm)) {
  return nhalf::coll::reduce(in, out, count, type, operation, root, comm, [=] {
    return PMPI_Reduce(in, out, count, type, operation, root, comm);
  });
}

#if MPI_VERSION >= 4
NHALF_ROUTED(Reduce_c, (const void* in, void* out, MPI_Count count, MPI_Datatype type,
                        MPI_Op operation, int root, MPI_Comm comm)) {
  return nhalf::coll::reduce(in, out, count, type, operation, root, comm, [=] {
    return PMPI_Reduce_c(in, out, count, type, operation, root, comm);
  });
}
#endif

NHALF_ROUTED(Allreduce, (const void* in, void* out, int count, MPI_Datatype type, MPI_Op operation,
                         MPI_Comm comm)) {
  return nhalf::coll::allreduce(in, out, count, type, operation, comm, [=] {
    return PMPI_Allreduce(in, out, count, type, operation, comm);
  });
}

#if MPI_VERSION >= 4
NHALF_ROUTED(Allreduce_c, (const void* in, void* out, MPI_Count count, MPI_Datatype type,
                           MPI_Op operation, MPI_Comm comm)) {
  return nhalf::coll::allreduce(in, out, count, type, operation, comm, [=] {
    return PMPI_Allreduce_c(in, out, count, type, operation, comm);
  });
}
#endif

NHALF_ROUTED(Scan, (const void* in, void* out, int count, MPI_Datatype type, MPI_Op operation,
                    MPI_Comm comm)) {
  return nhalf::coll::scan(in, out, count, type, operation, comm,
                           [=] { return PMPI_Scan(in, out, count, type, operation, comm); });
}

#if MPI_VERSION >= 4
NHALF_ROUTED(Scan_c, (const void* in, void* out, MPI_Count count, MPI_Datatype type,
                      MPI_Op operation, MPI_Comm comm)) {
  return nhalf::coll::scan(in, out, count, type, operation, comm,
                           [=] { return PMPI_Scan_c(in, out, count, type, operation, comm); });
}
#endif

NHALF_ROUTED(Reduce_scatter_block, (const void* in, void* out, int count, MPI_Datatype type,
                                    MPI_Op operation, MPI_Comm comm)) {
  return nhalf::coll::reduce_scatter_block(in, out, count, type, operation, comm, [=] {
    return PMPI_Reduce_scatter_block(in, out, count, type, operation, comm);
  });
}

#if MPI_VERSION >= 4
NHALF_ROUTED(Reduce_scatter_block_c, (const void* in, void* out, MPI_Count count, MPI_Datatype type,
                                      MPI_Op operation, MPI_Comm comm)) {
  return nhalf::coll::reduce_scatter_block(in, out, count, type, operation, comm, [=] {
    return PMPI_Reduce_scatter_block_c(in, out, count, type, operation, comm);
  });
}
#endif

NHALF_ROUTED(Allgather, (const void* in, int in_count, MPI_Datatype in_type, void* out,
                         int out_count, MPI_Datatype out_type, MPI_Comm comm)) {
  return nhalf::coll::allgather(in, in_count, in_type, out, out_count, out_type, comm, [=] {
    return PMPI_Allgather(in, in_count, in_type, out, out_count, out_type, comm);
  });
}

#if MPI_VERSION >= 4
NHALF_ROUTED(Allgather_c, (const void* in, MPI_Count in_count, MPI_Datatype in_type, void* out,
                           MPI_Count out_count, MPI_Datatype out_type, MPI_Comm comm)) {
  return nhalf::coll::allgather(in, in_count, in_type, out, out_count, out_type, comm, [=] {
    return PMPI_Allgather_c(in, in_count, in_type, out, out_count, out_type, comm);
  });
}
#endif

NHALF_ROUTED(Alltoall, (const void* in, int in_count, MPI_Datatype in_type, void* out,
                        int out_count, MPI_Datatype out_type, MPI_Comm comm)) {
  return nhalf::coll::alltoall(in, in_count, in_type, out, out_count, out_type, comm, [=] {
    return PMPI_Alltoall(in, in_count, in_type, out, out_count, out_type, comm);
  });
}

#if MPI_VERSION >= 4
NHALF_ROUTED(Alltoall_c, (const void* in, MPI_Count in_count, MPI_Datatype in_type, void* out,
                          MPI_Count out_count, MPI_Datatype out_type, MPI_Comm comm)) {
  return nhalf::coll::alltoall(in, in_count, in_type, out, out_count, out_type, comm, [=] {
    return PMPI_Alltoall_c(in, in_count, in_type, out, out_count, out_type, comm);
  });
}
#endif

NHALF_ROUTED(Gather, (const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                      MPI_Datatype out_type, int root, MPI_Comm comm)) {
  return nhalf::coll::gather(in, in_count, in_type, out, out_count, out_type, root, comm, [=] {
    return PMPI_Gather(in, in_count, in_type, out, out_count, out_type, root, comm);
  });
}

#if MPI_VERSION >= 4
NHALF_ROUTED(Gather_c, (const void* in, MPI_Count in_count, MPI_Datatype in_type, void* out,
                        MPI_Count out_count, MPI_Datatype out_type, int root, MPI_Comm comm)) {
  return nhalf::coll::gather(in, in_count, in_type, out, out_count, out_type, root, comm, [=] {
    return PMPI_Gather_c(in, in_count, in_type, out, out_count, out_type, root, comm);
  });
}
#endif

NHALF_ROUTED(Scatter, (const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                       MPI_Datatype out_type, int root, MPI_Comm comm)) {
  return nhalf::coll::scatter(in, in_count, in_type, out, out_count, out_type, root, comm, [=] {
    return PMPI_Scatter(in, in_count, in_type, out, out_count, out_type, root, comm);
  });
}

#if MPI_VERSION >= 4
NHALF_ROUTED(Scatter_c, (const void* in, MPI_Count in_count, MPI_Datatype in_type, void* out,
                         MPI_Count out_count, MPI_Datatype out_type, int root, MPI_Comm comm)) {
  return nhalf::coll::scatter(in, in_count, in_type, out, out_count, out_type, root, comm, [=] {
    return PMPI_Scatter_c(in, in_count, in_type, out, out_count, out_type, root, comm);
  });
}
#endif

// Revoke is not part of the standard; it ends the messages below collectives as well.
NHALF_ENTRY(MPIX_Comm_revoke, &nhalf::coll::revoke)

NHALF_ROUTED(Finalize, ()) {
  return nhalf::coll::finalize();
}
