// nhalf-needs: MPI
// The collective operations of MPI with a count per rank, one to one, blocking and not.
#pragma once

#include <mpi.h>

#include <vector>

#include "contract/varying.hpp"
#include "transports/mpi/collectives.hpp"

namespace nhalf {

/// Added to what Base can do; arguments are passed as Base passes those of equal blocks.
template <class Base>
class MpiVarying : public Base {
 public:
#define NHALF_VARYING(operation, Function, function, ...) \
  NHALF_MPI_FORMS(operation, Function, function, this->under_test(), __VA_ARGS__)
#include "transports/mpi/operations.inc"

 protected:
  using Base::Base;
  using Base::count;
  using Base::or_in_place;

  /// MPI_BYTE for every rank, as long as the transport lives.
  [[nodiscard]] const MPI_Datatype* types() {
    types_.resize(static_cast<std::size_t>(this->size()), MPI_BYTE);
    return types_.data();
  }

 private:
  std::vector<MPI_Datatype> types_;
};

}  // namespace nhalf
