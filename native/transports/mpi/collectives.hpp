// nhalf-needs: MPI
// The collective operations of an MPI library, one to one, blocking and not, and communicators that
// are made and freed.
#pragma once

#include <mpi.h>

#include "contract/collectives.hpp"
#include "transports/mpi/reduction.hpp"

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
/// MPI_IN_PLACE is passed. Blocks are counted in bytes, or in elements where they are combined.
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

  /// From here on operations without a root are among the ranks of one group, until `unite`; all
  /// ranks call both.
  void divide(int group) {
    if (under_test_ != MPI_COMM_WORLD) MPI_Comm_free(&under_test_);
    MPI_Comm_split(MPI_COMM_WORLD, group, rank_, &under_test_);
  }
  void unite() { renew_collectives(); }

  void reduce_by(const Reduction& reduction) {
    if (reduction != reduced_.reduction()) reduced_ = MpiReduction(reduction);
  }
  [[nodiscard]] std::size_t element_bytes() const { return reduced_.reduction().element_bytes(); }
  void combine(ConstBytes from, Bytes to) const {
    if (reduced_.reduction() == Reduction()) return add_floats(from, to);
    MPI_Reduce_local(from.data(), to.data(), reduced_.elements(from), reduced_.type,
                     reduced_.operation);
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
  [[nodiscard]] const MpiReduction& reduced() const { return reduced_; }
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
  MpiReduction reduced_;
};

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

// The neighbourhood collectives of MPI, one to one, blocking and not.

/// A communicator that knows each rank's neighbours.
class MpiNeighbourhood {
 public:
  static MpiNeighbourhood grid(int ranks, int dimensions) {
    MpiNeighbourhood graph;
    std::vector<int> lengths(static_cast<std::size_t>(dimensions), 0);
    const std::vector<int> closed(lengths.size(), 1);
    MPI_Dims_create(ranks, dimensions, lengths.data());
    MPI_Cart_create(MPI_COMM_WORLD, dimensions, lengths.data(), closed.data(), 0, &graph.handle_);
    for (int dimension = 0; dimension < dimensions; ++dimension) {
      int before = 0;
      int after = 0;
      MPI_Cart_shift(graph.handle_, dimension, 1, &before, &after);
      graph.sources_.insert(graph.sources_.end(), {before, after});
    }
    graph.destinations_ = graph.sources_;
    graph.count_types();
    return graph;
  }
  static MpiNeighbourhood list(int rank, int ranks, int distance) {
    MpiNeighbourhood graph;
    for (int away = 1; away <= distance; ++away)
      graph.sources_.insert(graph.sources_.end(),
                            {(rank + ranks - away % ranks) % ranks, (rank + away) % ranks});
    graph.destinations_ = graph.sources_;
    const int degree = static_cast<int>(graph.sources_.size());
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, degree, graph.sources_.data(), MPI_UNWEIGHTED,
                                   degree, graph.destinations_.data(), MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &graph.handle_);
    graph.count_types();
    return graph;
  }

  [[nodiscard]] std::span<const int> sources() const { return sources_; }
  [[nodiscard]] std::span<const int> destinations() const { return destinations_; }
  [[nodiscard]] MPI_Comm handle() const { return handle_; }
  /// MPI_BYTE for every neighbour.
  [[nodiscard]] const MPI_Datatype* types() const { return types_.data(); }
  /// The size of one of the blocks for all neighbours.
  [[nodiscard]] int block(ConstBytes all) const {
    return static_cast<int>(all.size() / destinations_.size());
  }
  void free() { MPI_Comm_free(&handle_); }

 private:
  void count_types() { types_.assign(sources_.size(), MPI_BYTE); }

  MPI_Comm handle_ = MPI_COMM_NULL;
  std::vector<int> sources_;
  std::vector<int> destinations_;
  std::vector<MPI_Datatype> types_;
};

/// Added to what Base can do.
template <class Base>
class MpiNeighbourhoods : public Base {
 public:
  using Neighbourhood = MpiNeighbourhood;

  Neighbourhood neighbourhood(NeighbourTopology topology, int extent) {
    return topology == NeighbourTopology::cartesian
               ? Neighbourhood::grid(this->size(), extent)
               : Neighbourhood::list(this->rank(), this->size(), extent);
  }
  void leave(Neighbourhood& among) { among.free(); }

#define NHALF_NEIGHBOUR(operation, Function, function, ...) \
  NHALF_MPI_FORMS(operation, Function, function, among.handle(), __VA_ARGS__)
#include "transports/mpi/operations.inc"

 protected:
  using Base::Base;
  using Base::count;
};
}  // namespace nhalf
