// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// The collective operations of MPI with a count per rank, one to one, blocking and not.
#pragma once

#include <mpi.h>

#include <vector>

#include "contract/varying.hpp"

namespace nhalf {

/// Added to what Base can do; arguments are passed as Base passes those of equal blocks.
template <class Base>
class MpiVarying : public Base {
 public:
  void gatherv(int root, ConstBytes in, Bytes out, PerRank counts, PerRank offsets) {
    MPI_Gatherv(this->given(root, in, out), this->count(in), MPI_BYTE, out.data(), counts.data(),
                offsets.data(), MPI_BYTE, root, this->under_test());
  }
  void scatterv(int root, ConstBytes in, PerRank counts, PerRank offsets, Bytes out) {
    MPI_Scatterv(in.data(), counts.data(), offsets.data(), MPI_BYTE, this->kept(root, in, out),
                 this->count(out), MPI_BYTE, root, this->under_test());
  }
  void allgatherv(ConstBytes in, Bytes out, PerRank counts, PerRank offsets) {
    MPI_Allgatherv(this->given(this->rank(), in, out), this->count(in), MPI_BYTE, out.data(),
                   counts.data(), offsets.data(), MPI_BYTE, this->under_test());
  }
  void alltoallw(ConstBytes in, PerRank in_counts, PerRank in_offsets, Bytes out,
                 PerRank out_counts, PerRank out_offsets) {
    MPI_Alltoallw(this->or_in_place(in, out.data()), in_counts.data(), in_offsets.data(), bytes(),
                  out.data(), out_counts.data(), out_offsets.data(), bytes(), this->under_test());
  }
  void reduce_scatterv(ConstBytes in, Bytes out, PerRank counts) {
    MPI_Reduce_scatter(this->or_in_place(in, out.data()), out.data(), counts.data(), MPI_FLOAT,
                       MPI_SUM, this->under_test());
  }

  MPI_Request igatherv(int root, ConstBytes in, Bytes out, PerRank counts, PerRank offsets) {
    MPI_Request request;
    MPI_Igatherv(this->given(root, in, out), this->count(in), MPI_BYTE, out.data(), counts.data(),
                 offsets.data(), MPI_BYTE, root, this->under_test(), &request);
    return request;
  }
  MPI_Request iscatterv(int root, ConstBytes in, PerRank counts, PerRank offsets, Bytes out) {
    MPI_Request request;
    MPI_Iscatterv(in.data(), counts.data(), offsets.data(), MPI_BYTE, this->kept(root, in, out),
                  this->count(out), MPI_BYTE, root, this->under_test(), &request);
    return request;
  }
  MPI_Request iallgatherv(ConstBytes in, Bytes out, PerRank counts, PerRank offsets) {
    MPI_Request request;
    MPI_Iallgatherv(this->given(this->rank(), in, out), this->count(in), MPI_BYTE, out.data(),
                    counts.data(), offsets.data(), MPI_BYTE, this->under_test(), &request);
    return request;
  }
  MPI_Request ialltoallw(ConstBytes in, PerRank in_counts, PerRank in_offsets, Bytes out,
                         PerRank out_counts, PerRank out_offsets) {
    MPI_Request request;
    MPI_Ialltoallw(this->or_in_place(in, out.data()), in_counts.data(), in_offsets.data(), bytes(),
                   out.data(), out_counts.data(), out_offsets.data(), bytes(), this->under_test(),
                   &request);
    return request;
  }
  MPI_Request ireduce_scatterv(ConstBytes in, Bytes out, PerRank counts) {
    MPI_Request request;
    MPI_Ireduce_scatter(this->or_in_place(in, out.data()), out.data(), counts.data(), MPI_FLOAT,
                        MPI_SUM, this->under_test(), &request);
    return request;
  }

 protected:
  using Base::Base;

  /// MPI_BYTE for every rank, as long as the transport lives.
  [[nodiscard]] const MPI_Datatype* bytes() {
    types_.resize(static_cast<std::size_t>(this->size()), MPI_BYTE);
    return types_.data();
  }

 private:
  std::vector<MPI_Datatype> types_;
};

}  // namespace nhalf
