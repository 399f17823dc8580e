// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// What Fortran programs call. MPICH and its relatives implement these on the calls for C, which are
// routed; Open MPI goes past them, so its entry points are routed here: those of mpif.h and the
// module mpi, and those of mpi_f08, whose last argument may be absent.
#pragma once

#include <mpi.h>

#if defined(OPEN_MPI)

#include <dlfcn.h>

#include "collectives/allgather.hpp"
#include "collectives/allreduce.hpp"
#include "collectives/alltoall.hpp"
#include "collectives/barrier.hpp"
#include "collectives/bcast.hpp"
#include "collectives/finalize.hpp"
#include "collectives/gather.hpp"
#include "collectives/reduce.hpp"
#include "collectives/reduce_scatter_block.hpp"
#include "collectives/scan.hpp"
#include "collectives/scatter.hpp"

namespace nhalf::coll::fortran {

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

inline MPI_Comm comm(const MPI_Fint* handle) {
  return PMPI_Comm_f2c(*handle);
}
inline MPI_Datatype type(const MPI_Fint* handle) {
  return PMPI_Type_f2c(*handle);
}
inline MPI_Op operation(const MPI_Fint* handle) {
  return PMPI_Op_f2c(*handle);
}
inline void answer(MPI_Fint* error, int value) {
  if (error != nullptr) *error = value;
}

}  // namespace nhalf::coll::fortran

#define NHALF_FORTRAN(name, arguments, call)                                       \
  extern "C" __attribute__((visibility("default"))) void mpi_##name##_ arguments { \
    using namespace nhalf::coll::fortran;                                          \
    answer(error, nhalf::coll::call);                                              \
  }                                                                                \
  extern "C" __attribute__((visibility("default"),                                 \
                            alias("mpi_" #name "_"))) void mpi_##name##_f08_ arguments;

NHALF_FORTRAN(barrier, (MPI_Fint * on, MPI_Fint* error), barrier(comm(on)))
NHALF_FORTRAN(bcast,
              (void* data, MPI_Fint* count, MPI_Fint* of, MPI_Fint* root, MPI_Fint* on,
               MPI_Fint* error),
              bcast(address(data), *count, type(of), *root, comm(on)))
NHALF_FORTRAN(reduce,
              (void* in, void* out, MPI_Fint* count, MPI_Fint* of, MPI_Fint* by, MPI_Fint* root,
               MPI_Fint* on, MPI_Fint* error),
              reduce(address(in), address(out), *count, type(of), operation(by), *root, comm(on)))
NHALF_FORTRAN(allreduce,
              (void* in, void* out, MPI_Fint* count, MPI_Fint* of, MPI_Fint* by, MPI_Fint* on,
               MPI_Fint* error),
              allreduce(address(in), address(out), *count, type(of), operation(by), comm(on)))
NHALF_FORTRAN(scan,
              (void* in, void* out, MPI_Fint* count, MPI_Fint* of, MPI_Fint* by, MPI_Fint* on,
               MPI_Fint* error),
              scan(address(in), address(out), *count, type(of), operation(by), comm(on)))
NHALF_FORTRAN(reduce_scatter_block,
              (void* in, void* out, MPI_Fint* count, MPI_Fint* of, MPI_Fint* by, MPI_Fint* on,
               MPI_Fint* error),
              reduce_scatter_block(address(in), address(out), *count, type(of), operation(by),
                                   comm(on)))
NHALF_FORTRAN(allgather,
              (void* in, MPI_Fint* in_count, MPI_Fint* in_type, void* out, MPI_Fint* out_count,
               MPI_Fint* out_type, MPI_Fint* on, MPI_Fint* error),
              allgather(address(in), *in_count, type(in_type), address(out), *out_count,
                        type(out_type), comm(on)))
NHALF_FORTRAN(alltoall,
              (void* in, MPI_Fint* in_count, MPI_Fint* in_type, void* out, MPI_Fint* out_count,
               MPI_Fint* out_type, MPI_Fint* on, MPI_Fint* error),
              alltoall(address(in), *in_count, type(in_type), address(out), *out_count,
                       type(out_type), comm(on)))
NHALF_FORTRAN(gather,
              (void* in, MPI_Fint* in_count, MPI_Fint* in_type, void* out, MPI_Fint* out_count,
               MPI_Fint* out_type, MPI_Fint* root, MPI_Fint* on, MPI_Fint* error),
              gather(address(in), *in_count, type(in_type), address(out), *out_count,
                     type(out_type), *root, comm(on)))
NHALF_FORTRAN(scatter,
              (void* in, MPI_Fint* in_count, MPI_Fint* in_type, void* out, MPI_Fint* out_count,
               MPI_Fint* out_type, MPI_Fint* root, MPI_Fint* on, MPI_Fint* error),
              scatter(address(in), *in_count, type(in_type), address(out), *out_count,
                      type(out_type), *root, comm(on)))
NHALF_FORTRAN(finalize, (MPI_Fint * error), finalize())

#undef NHALF_FORTRAN

#endif
