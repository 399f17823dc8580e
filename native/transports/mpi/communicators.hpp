// nhalf-needs: MPI
// Communicators of MPI that are made and freed.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "contract/neighbourhoods.hpp"
#include "transports/mpi/collectives.hpp"

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
