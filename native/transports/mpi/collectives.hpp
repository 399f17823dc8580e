// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// The collective operations of an MPI library, one to one, blocking and not.
#pragma once

#include <mpi.h>

#include <cstddef>

#include "contract/collectives.hpp"

namespace nhalf {

/// Operations under test have a communicator of their own: what a library prepares for the first
/// operation on a communicator can be seen by making another. Where `in` lies in its place in `out`
/// MPI_IN_PLACE is passed. Blocks are counted in bytes, or in floats where they are added.
class MpiCollectives {
 public:
  using CollectiveRequest = MPI_Request;

  MpiCollectives(const MpiCollectives&) = delete;
  MpiCollectives& operator=(const MpiCollectives&) = delete;

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }

  /// Makes the next operation the first one on its communicator; all ranks call it.
  void renew_collectives() {
    if (under_test_ != MPI_COMM_WORLD) MPI_Comm_free(&under_test_);
    MPI_Comm_dup(MPI_COMM_WORLD, &under_test_);
  }

  void bcast(int root, Bytes data) {
    MPI_Bcast(data.data(), count(data), MPI_BYTE, root, under_test_);
  }
  void scatter(int root, ConstBytes in, Bytes out) {
    MPI_Scatter(in.data(), count(out), MPI_BYTE, kept(root, in, out), count(out), MPI_BYTE, root,
                under_test_);
  }
  void gather(int root, ConstBytes in, Bytes out) {
    MPI_Gather(given(root, in, out), count(in), MPI_BYTE, out.data(), count(in), MPI_BYTE, root,
               under_test_);
  }
  void allgather(ConstBytes in, Bytes out) {
    MPI_Allgather(given(rank(), in, out), count(in), MPI_BYTE, out.data(), count(in), MPI_BYTE,
                  under_test_);
  }
  void alltoall(ConstBytes in, Bytes out) {
    MPI_Alltoall(or_in_place(in, out.data()), per_rank(in), MPI_BYTE, out.data(), per_rank(in),
                 MPI_BYTE, under_test_);
  }
  void alltoallv(ConstBytes in, PerRank in_counts, PerRank in_offsets, Bytes out,
                 PerRank out_counts, PerRank out_offsets) {
    MPI_Alltoallv(or_in_place(in, out.data()), in_counts.data(), in_offsets.data(), MPI_BYTE,
                  out.data(), out_counts.data(), out_offsets.data(), MPI_BYTE, under_test_);
  }
  void reduce(int root, ConstBytes in, Bytes out) {
    const void* source = rank() == root ? or_in_place(in, out.data()) : in.data();
    MPI_Reduce(source, out.data(), floats(in), MPI_FLOAT, MPI_SUM, root, under_test_);
  }
  void allreduce(ConstBytes in, Bytes out) {
    MPI_Allreduce(or_in_place(in, out.data()), out.data(), floats(in), MPI_FLOAT, MPI_SUM,
                  under_test_);
  }
  void reduce_scatter(ConstBytes in, Bytes out) {
    MPI_Reduce_scatter_block(or_in_place(in, out.data()), out.data(), floats(out), MPI_FLOAT,
                             MPI_SUM, under_test_);
  }
  void scan(ConstBytes in, Bytes out) {
    MPI_Scan(or_in_place(in, out.data()), out.data(), floats(in), MPI_FLOAT, MPI_SUM, under_test_);
  }
  void synchronise() { MPI_Barrier(under_test_); }

  MPI_Request ibcast(int root, Bytes data) {
    MPI_Request request;
    MPI_Ibcast(data.data(), count(data), MPI_BYTE, root, under_test_, &request);
    return request;
  }
  MPI_Request iscatter(int root, ConstBytes in, Bytes out) {
    MPI_Request request;
    MPI_Iscatter(in.data(), count(out), MPI_BYTE, kept(root, in, out), count(out), MPI_BYTE, root,
                 under_test_, &request);
    return request;
  }
  MPI_Request igather(int root, ConstBytes in, Bytes out) {
    MPI_Request request;
    MPI_Igather(given(root, in, out), count(in), MPI_BYTE, out.data(), count(in), MPI_BYTE, root,
                under_test_, &request);
    return request;
  }
  MPI_Request iallgather(ConstBytes in, Bytes out) {
    MPI_Request request;
    MPI_Iallgather(given(rank(), in, out), count(in), MPI_BYTE, out.data(), count(in), MPI_BYTE,
                   under_test_, &request);
    return request;
  }
  MPI_Request ialltoall(ConstBytes in, Bytes out) {
    MPI_Request request;
    MPI_Ialltoall(or_in_place(in, out.data()), per_rank(in), MPI_BYTE, out.data(), per_rank(in),
                  MPI_BYTE, under_test_, &request);
    return request;
  }
  MPI_Request ialltoallv(ConstBytes in, PerRank in_counts, PerRank in_offsets, Bytes out,
                         PerRank out_counts, PerRank out_offsets) {
    MPI_Request request;
    MPI_Ialltoallv(or_in_place(in, out.data()), in_counts.data(), in_offsets.data(), MPI_BYTE,
                   out.data(), out_counts.data(), out_offsets.data(), MPI_BYTE, under_test_,
                   &request);
    return request;
  }
  MPI_Request ireduce(int root, ConstBytes in, Bytes out) {
    MPI_Request request;
    const void* source = rank() == root ? or_in_place(in, out.data()) : in.data();
    MPI_Ireduce(source, out.data(), floats(in), MPI_FLOAT, MPI_SUM, root, under_test_, &request);
    return request;
  }
  MPI_Request iallreduce(ConstBytes in, Bytes out) {
    MPI_Request request;
    MPI_Iallreduce(or_in_place(in, out.data()), out.data(), floats(in), MPI_FLOAT, MPI_SUM,
                   under_test_, &request);
    return request;
  }
  MPI_Request ireduce_scatter(ConstBytes in, Bytes out) {
    MPI_Request request;
    MPI_Ireduce_scatter_block(or_in_place(in, out.data()), out.data(), floats(out), MPI_FLOAT,
                              MPI_SUM, under_test_, &request);
    return request;
  }
  MPI_Request iscan(ConstBytes in, Bytes out) {
    MPI_Request request;
    MPI_Iscan(or_in_place(in, out.data()), out.data(), floats(in), MPI_FLOAT, MPI_SUM, under_test_,
              &request);
    return request;
  }
  MPI_Request isynchronise() {
    MPI_Request request;
    MPI_Ibarrier(under_test_, &request);
    return request;
  }
  bool test(MPI_Request& request) {
    int done = 0;
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    return done != 0;
  }

 protected:
  /// Operations under test use another communicator than control, where control uses one.
  explicit MpiCollectives(bool apart) {
    if (apart) MPI_Comm_dup(MPI_COMM_WORLD, &under_test_);
    MPI_Comm_rank(under_test_, &rank_);
    MPI_Comm_size(under_test_, &size_);
  }
  ~MpiCollectives() {
    if (under_test_ != MPI_COMM_WORLD) MPI_Comm_free(&under_test_);
  }

  [[nodiscard]] MPI_Comm under_test() const { return under_test_; }

  static int count(ConstBytes data) { return static_cast<int>(data.size()); }
  static int floats(ConstBytes data) { return static_cast<int>(data.size() / sizeof(float)); }
  [[nodiscard]] int per_rank(ConstBytes data) const {
    return static_cast<int>(data.size() / static_cast<std::size_t>(size_));
  }

  static const void* or_in_place(ConstBytes in, const std::byte* place) {
    return in.data() == place ? MPI_IN_PLACE : in.data();
  }
  /// What a rank gives to a root that gathers blocks in `out`.
  [[nodiscard]] const void* given(int root, ConstBytes in, ConstBytes out) const {
    return rank_ == root ? or_in_place(in, out.data() + offset(in)) : in.data();
  }
  /// Where a rank keeps its block of what a root scatters from `in`.
  [[nodiscard]] void* kept(int root, ConstBytes in, Bytes out) const {
    return rank_ == root && out.data() == in.data() + offset(out) ? MPI_IN_PLACE : out.data();
  }
  [[nodiscard]] std::size_t offset(ConstBytes block) const {
    return static_cast<std::size_t>(rank_) * block.size();
  }

 private:
  MPI_Comm under_test_ = MPI_COMM_WORLD;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace nhalf
