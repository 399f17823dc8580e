// nhalf-needs: MPI
// Collective operations of MPI 4 that are set up once, one to one.
#pragma once

#include <mpi.h>

#include "contract/persistent_collectives.hpp"
#include "transports/mpi/since.hpp"

namespace nhalf {

/// Added to what Base can do, where the library has them; Base starts and releases requests.
template <class Base>
class MpiPersistentCollectives : public Base {
#ifdef NHALF_MPI_4
 public:
#define NHALF_EQUAL(operation, Function, function, parameters, ...)                                \
  MPI_Request prepare_##operation parameters {                                                     \
    MPI_Request request;                                                                           \
    MPI_##Function##_init(__VA_ARGS__ __VA_OPT__(, ) this->under_test(), MPI_INFO_NULL, &request); \
    return request;                                                                                \
  }
#define NHALF_VARYING NHALF_EQUAL
#include "transports/mpi/operations.inc"
#endif

 protected:
  using Base::Base;
  using Base::count;
  using Base::floats;
  using Base::or_in_place;
};

}  // namespace nhalf
