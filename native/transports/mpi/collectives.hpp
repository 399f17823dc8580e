// nhalf-needs: MPI
// The collective operations of an MPI library, one to one, blocking and not.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "contract/collectives.hpp"
#include "contract/varying.hpp"

/// The blocking form of an operation and the one that begins it, on a communicator.
#define NHALF_MPI_FORMS(operation, Function, function, communicator, parameters, ...) \
  void operation parameters {                                                         \
    MPI_##Function(__VA_ARGS__ __VA_OPT__(, ) communicator);                          \
  }                                                                                   \
  MPI_Request i##operation parameters {                                               \
    MPI_Request request;                                                              \
    MPI_I##function(__VA_ARGS__ __VA_OPT__(, ) communicator, &request);               \
    return request;                                                                   \
  }

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

#define NHALF_EQUAL(operation, Function, function, ...) \
  NHALF_MPI_FORMS(operation, Function, function, under_test_, __VA_ARGS__)
#include "transports/mpi/operations.inc"

  bool test(MPI_Request& request) {
    int is_complete = 0;
    MPI_Test(&request, &is_complete, MPI_STATUS_IGNORE);
    return is_complete != 0;
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

  static const void* or_in_place(ConstBytes in, ConstBytes place) {
    return in.data() == place.data() ? MPI_IN_PLACE : in.data();
  }
  /// What a rank gives to a root that gathers blocks in `out`.
  [[nodiscard]] const void* given(int root, ConstBytes in, ConstBytes out) const {
    return rank_ == root && in.data() == out.data() + offset(in) ? MPI_IN_PLACE : in.data();
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

namespace nhalf {

// Those with a count per rank.

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
