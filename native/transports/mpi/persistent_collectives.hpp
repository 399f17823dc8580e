// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// Collective operations of MPI 4 that are set up once, one to one.
#pragma once

#include <mpi.h>

#include "contract/collectives.hpp"
#include "transports/mpi/since.hpp"

namespace nhalf {

/// Added to what Base can do, where the library has them; Base starts and releases requests.
template <class Base>
class MpiPersistentCollectives : public Base {
#ifdef NHALF_MPI_4
 public:
  MPI_Request prepare_bcast(int root, Bytes data) {
    MPI_Request request;
    MPI_Bcast_init(data.data(), this->count(data), MPI_BYTE, root, this->under_test(),
                   MPI_INFO_NULL, &request);
    return request;
  }
  MPI_Request prepare_synchronise() {
    MPI_Request request;
    MPI_Barrier_init(this->under_test(), MPI_INFO_NULL, &request);
    return request;
  }
  MPI_Request prepare_scatter(int root, ConstBytes in, Bytes out) {
    MPI_Request request;
    MPI_Scatter_init(in.data(), this->count(out), MPI_BYTE, this->kept(root, in, out),
                     this->count(out), MPI_BYTE, root, this->under_test(), MPI_INFO_NULL, &request);
    return request;
  }
  MPI_Request prepare_scatterv(int root, ConstBytes in, PerRank counts, PerRank offsets,
                               Bytes out) {
    MPI_Request request;
    MPI_Scatterv_init(in.data(), counts.data(), offsets.data(), MPI_BYTE, this->kept(root, in, out),
                      this->count(out), MPI_BYTE, root, this->under_test(), MPI_INFO_NULL,
                      &request);
    return request;
  }
  MPI_Request prepare_gather(int root, ConstBytes in, Bytes out) {
    MPI_Request request;
    MPI_Gather_init(this->given(root, in, out), this->count(in), MPI_BYTE, out.data(),
                    this->count(in), MPI_BYTE, root, this->under_test(), MPI_INFO_NULL, &request);
    return request;
  }
  MPI_Request prepare_gatherv(int root, ConstBytes in, Bytes out, PerRank counts, PerRank offsets) {
    MPI_Request request;
    MPI_Gatherv_init(this->given(root, in, out), this->count(in), MPI_BYTE, out.data(),
                     counts.data(), offsets.data(), MPI_BYTE, root, this->under_test(),
                     MPI_INFO_NULL, &request);
    return request;
  }
  MPI_Request prepare_allgather(ConstBytes in, Bytes out) {
    MPI_Request request;
    MPI_Allgather_init(this->given(this->rank(), in, out), this->count(in), MPI_BYTE, out.data(),
                       this->count(in), MPI_BYTE, this->under_test(), MPI_INFO_NULL, &request);
    return request;
  }
  MPI_Request prepare_allgatherv(ConstBytes in, Bytes out, PerRank counts, PerRank offsets) {
    MPI_Request request;
    MPI_Allgatherv_init(this->given(this->rank(), in, out), this->count(in), MPI_BYTE, out.data(),
                        counts.data(), offsets.data(), MPI_BYTE, this->under_test(), MPI_INFO_NULL,
                        &request);
    return request;
  }
  MPI_Request prepare_alltoall(ConstBytes in, Bytes out) {
    MPI_Request request;
    MPI_Alltoall_init(this->or_in_place(in, out.data()), this->per_rank(in), MPI_BYTE, out.data(),
                      this->per_rank(in), MPI_BYTE, this->under_test(), MPI_INFO_NULL, &request);
    return request;
  }
  MPI_Request prepare_alltoallv(ConstBytes in, PerRank in_counts, PerRank in_offsets, Bytes out,
                                PerRank out_counts, PerRank out_offsets) {
    MPI_Request request;
    MPI_Alltoallv_init(this->or_in_place(in, out.data()), in_counts.data(), in_offsets.data(),
                       MPI_BYTE, out.data(), out_counts.data(), out_offsets.data(), MPI_BYTE,
                       this->under_test(), MPI_INFO_NULL, &request);
    return request;
  }
  MPI_Request prepare_alltoallw(ConstBytes in, PerRank in_counts, PerRank in_offsets, Bytes out,
                                PerRank out_counts, PerRank out_offsets) {
    MPI_Request request;
    MPI_Alltoallw_init(this->or_in_place(in, out.data()), in_counts.data(), in_offsets.data(),
                       this->bytes(), out.data(), out_counts.data(), out_offsets.data(),
                       this->bytes(), this->under_test(), MPI_INFO_NULL, &request);
    return request;
  }
  MPI_Request prepare_reduce(int root, ConstBytes in, Bytes out) {
    MPI_Request request;
    MPI_Reduce_init(this->rank() == root ? this->or_in_place(in, out.data()) : in.data(),
                    out.data(), this->floats(in), MPI_FLOAT, MPI_SUM, root, this->under_test(),
                    MPI_INFO_NULL, &request);
    return request;
  }
  MPI_Request prepare_allreduce(ConstBytes in, Bytes out) {
    MPI_Request request;
    MPI_Allreduce_init(this->or_in_place(in, out.data()), out.data(), this->floats(in), MPI_FLOAT,
                       MPI_SUM, this->under_test(), MPI_INFO_NULL, &request);
    return request;
  }
  MPI_Request prepare_reduce_scatter(ConstBytes in, Bytes out) {
    MPI_Request request;
    MPI_Reduce_scatter_block_init(this->or_in_place(in, out.data()), out.data(), this->floats(out),
                                  MPI_FLOAT, MPI_SUM, this->under_test(), MPI_INFO_NULL, &request);
    return request;
  }
  MPI_Request prepare_reduce_scatterv(ConstBytes in, Bytes out, PerRank counts) {
    MPI_Request request;
    MPI_Reduce_scatter_init(this->or_in_place(in, out.data()), out.data(), counts.data(), MPI_FLOAT,
                            MPI_SUM, this->under_test(), MPI_INFO_NULL, &request);
    return request;
  }
  MPI_Request prepare_scan(ConstBytes in, Bytes out) {
    MPI_Request request;
    MPI_Scan_init(this->or_in_place(in, out.data()), out.data(), this->floats(in), MPI_FLOAT,
                  MPI_SUM, this->under_test(), MPI_INFO_NULL, &request);
    return request;
  }
#endif

 protected:
  using Base::Base;
};

}  // namespace nhalf
