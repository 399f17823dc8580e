// nhalf-needs: MPI
// Entry points of Fortran programs. MPICH and its relatives implement them on the calls for C,
// which are routed. Open MPI bypasses these, so its entry points are routed here: the names of
// mpif.h and the module mpi, and the names of mpi_f08, whose last argument may be absent.
#pragma once

#include "preloaded/mpi.hpp"

#if defined(OPEN_MPI)

#include "preloaded/entry.hpp"
#include "preloaded/sentinels.hpp"

namespace nhalf::coll::fortran {

using nhalf::fortran::address;
using nhalf::fortran::answer;

inline MPI_Comm comm(const MPI_Fint* handle) {
  return PMPI_Comm_f2c(*handle);
}
inline MPI_Datatype type(const MPI_Fint* handle) {
  return PMPI_Type_f2c(*handle);
}
inline MPI_Op operation(const MPI_Fint* handle) {
  return PMPI_Op_f2c(*handle);
}

}  // namespace nhalf::coll::fortran

#define NHALF_FORTRAN(name, arguments, call)         \
  static int routed_fortran_##name arguments {       \
    using namespace nhalf::coll::fortran;            \
    answer(error, MPI_##call);                       \
    return 0;                                        \
  }                                                  \
  NHALF_ENTRY(mpi_##name##_, &routed_fortran_##name) \
  NHALF_ENTRY(mpi_##name##_f08_, &routed_fortran_##name)

NHALF_FORTRAN(init, (MPI_Fint * error), Init(nullptr, nullptr))
NHALF_FORTRAN(init_thread, (MPI_Fint * required, MPI_Fint* provided, MPI_Fint* error),
              Init_thread(nullptr, nullptr, *required, provided))
NHALF_FORTRAN(barrier, (MPI_Fint * on, MPI_Fint* error), Barrier(comm(on)))
NHALF_FORTRAN(bcast,
              (void* data, MPI_Fint* count, MPI_Fint* of, MPI_Fint* root, MPI_Fint* on,
               MPI_Fint* error),
              Bcast(address(data), *count, type(of), *root, comm(on)))
NHALF_FORTRAN(reduce,
              (void* in, void* out, MPI_Fint* count, MPI_Fint* of, MPI_Fint* by, MPI_Fint* root,
               MPI_Fint* on, MPI_Fint* error),
              Reduce(address(in), address(out), *count, type(of), operation(by), *root, comm(on)))
NHALF_FORTRAN(allreduce,
              (void* in, void* out, MPI_Fint* count, MPI_Fint* of, MPI_Fint* by, MPI_Fint* on,
               MPI_Fint* error),
              Allreduce(address(in), address(out), *count, type(of), operation(by), comm(on)))
NHALF_FORTRAN(scan,
              (void* in, void* out, MPI_Fint* count, MPI_Fint* of, MPI_Fint* by, MPI_Fint* on,
               MPI_Fint* error),
              Scan(address(in), address(out), *count, type(of), operation(by), comm(on)))
NHALF_FORTRAN(reduce_scatter_block,
              (void* in, void* out, MPI_Fint* count, MPI_Fint* of, MPI_Fint* by, MPI_Fint* on,
               MPI_Fint* error),
              Reduce_scatter_block(address(in), address(out), *count, type(of), operation(by),
                                   comm(on)))
NHALF_FORTRAN(allgather,
              (void* in, MPI_Fint* in_count, MPI_Fint* in_type, void* out, MPI_Fint* out_count,
               MPI_Fint* out_type, MPI_Fint* on, MPI_Fint* error),
              Allgather(address(in), *in_count, type(in_type), address(out), *out_count,
                        type(out_type), comm(on)))
NHALF_FORTRAN(alltoall,
              (void* in, MPI_Fint* in_count, MPI_Fint* in_type, void* out, MPI_Fint* out_count,
               MPI_Fint* out_type, MPI_Fint* on, MPI_Fint* error),
              Alltoall(address(in), *in_count, type(in_type), address(out), *out_count,
                       type(out_type), comm(on)))
NHALF_FORTRAN(gather,
              (void* in, MPI_Fint* in_count, MPI_Fint* in_type, void* out, MPI_Fint* out_count,
               MPI_Fint* out_type, MPI_Fint* root, MPI_Fint* on, MPI_Fint* error),
              Gather(address(in), *in_count, type(in_type), address(out), *out_count,
                     type(out_type), *root, comm(on)))
NHALF_FORTRAN(scatter,
              (void* in, MPI_Fint* in_count, MPI_Fint* in_type, void* out, MPI_Fint* out_count,
               MPI_Fint* out_type, MPI_Fint* root, MPI_Fint* on, MPI_Fint* error),
              Scatter(address(in), *in_count, type(in_type), address(out), *out_count,
                      type(out_type), *root, comm(on)))
NHALF_FORTRAN(finalize, (MPI_Fint * error), Finalize())

#undef NHALF_FORTRAN

#endif
