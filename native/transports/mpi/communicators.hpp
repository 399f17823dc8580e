// nhalf-needs: MPI
// Communicators of MPI that are made and freed.
#pragma once

#include <mpi.h>

namespace nhalf {

/// Added to what Base can do.
template <class Base>
class MpiCommunicators : public Base {
 public:
  void duplicate() {
    MPI_Comm communicator = MPI_COMM_NULL;
    MPI_Comm_dup(this->under_test(), &communicator);
    MPI_Comm_free(&communicator);
  }
  void split() {
    MPI_Comm communicator = MPI_COMM_NULL;
    MPI_Comm_split(this->under_test(), this->rank() % 2, this->rank(), &communicator);
    MPI_Comm_free(&communicator);
  }

 protected:
  using Base::Base;
};

}  // namespace nhalf
