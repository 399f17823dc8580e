// nhalf-needs: MPI
// The ranks that an operation reaches from here: those of a communicator, or the neighbours in its
// topology.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "calls/library.hpp"
#include "preloaded/mpi.hpp"

namespace nhalf::fabric {

/// A communicator, or two groups with one between them.
struct Group {
  int own = 0;
  int size = 0;
  /// The size of the other group where there are two.
  int remote = 0;

  static Group of(MPI_Comm comm) {
    Group group;
    int is_between = 0;
    NHALF_OWN(Comm_rank)(comm, &group.own);
    NHALF_OWN(Comm_size)(comm, &group.size);
    NHALF_OWN(Comm_test_inter)(comm, &is_between);
    if (is_between != 0) NHALF_OWN(Comm_remote_size)(comm, &group.remote);
    return group;
  }
  [[nodiscard]] bool is_between() const { return remote > 0; }
  /// Returns the number of ranks that an operation sends to and gets from.
  [[nodiscard]] int partners() const { return is_between() ? remote : size; }
  [[nodiscard]] int others() const { return is_between() ? remote : size - 1; }
  [[nodiscard]] bool is_other(int rank) const { return rank >= 0 && (is_between() || rank != own); }
  [[nodiscard]] int ranks() const { return size + remote; }
};

/// Returns the ranks to which a rank of a topology sends, in the order of its blocks.
inline std::vector<int> neighbours_of(MPI_Comm comm) {
  std::vector<int> targets;
  int kind = MPI_UNDEFINED;
  NHALF_OWN(Topo_test)(comm, &kind);
  if (kind == MPI_CART) {
    int dimensions = 0;
    NHALF_OWN(Cartdim_get)(comm, &dimensions);
    for (int dimension = 0; dimension < dimensions; ++dimension) {
      std::array<int, 2> ends{};
      NHALF_OWN(Cart_shift)(comm, dimension, 1, &ends[0], &ends[1]);
      targets.insert(targets.end(), ends.begin(), ends.end());
    }
  } else if (kind == MPI_GRAPH) {
    int number = 0;
    const int own = Group::of(comm).own;
    NHALF_OWN(Graph_neighbors_count)(comm, own, &number);
    targets.resize(static_cast<std::size_t>(number));
    NHALF_OWN(Graph_neighbors)(comm, own, number, targets.data());
  } else if (kind == MPI_DIST_GRAPH) {
    int in = 0;
    int out = 0;
    int is_weighted = 0;
    NHALF_OWN(Dist_graph_neighbors_count)(comm, &in, &out, &is_weighted);
    targets.resize(static_cast<std::size_t>(out));
    std::vector<int> sources(static_cast<std::size_t>(in));
    std::vector<int> in_weights(sources.size());
    std::vector<int> out_weights(targets.size());
    NHALF_OWN(Dist_graph_neighbors)
    (comm, in, sources.data(), is_weighted != 0 ? in_weights.data() : MPI_UNWEIGHTED, out,
     targets.data(), is_weighted != 0 ? out_weights.data() : MPI_UNWEIGHTED);
  }
  return targets;
}

}  // namespace nhalf::fabric
