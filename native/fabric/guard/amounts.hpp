// nhalf-needs: MPI
// What a collective operation has to move at this rank, whatever algorithm it takes. The names are
// those that the table of calls uses (calls/). What a rank contributes has to leave it once,
// in whatever sums; what it gets has to come from others. Amounts that no argument tells are 0.
#pragma once

#include "calls/names.hpp"

namespace nhalf::fabric {
// The ranks that an operation reaches from here: those of a communicator, or the neighbours in its
// topology.

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

namespace nhalf::fabric::roles {
/// Bytes that have to leave a rank, and that have to come to it.
struct Share {
  std::uint64_t leaving = 0;
  std::uint64_t arriving = 0;
};

/// Looks up what rows of the table ask for.
struct Caller {
  template <class Count>
  [[nodiscard]] std::uint64_t bytes(Count count, MPI_Datatype type) const {
    MPI_Count size = 0;
    if (count <= 0 || type == MPI_DATATYPE_NULL) return 0;
    if (NHALF_OWN(Type_size_x)(type, &size) != MPI_SUCCESS || size <= 0) return 0;
    return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size);
  }
  /// The bytes of one of many blocks.
  template <class Count>
  [[nodiscard]] std::uint64_t bytes_at(int at, const Count* counts, MPI_Datatype type) const {
    return bytes(counts[at], type);
  }
  template <class Count>
  [[nodiscard]] std::uint64_t bytes_at(int at, const Count* counts,
                                       const MPI_Datatype* types) const {
    // Types of blocks without items may be invalid.
    return counts[at] <= 0 ? 0 : bytes(counts[at], types[at]);
  }
  /// The bytes of all blocks but a rank's own; `counts` is one number for all, or a list.
  template <std::integral Count>
  [[nodiscard]] std::uint64_t of_others(const Group& group, Count count, MPI_Datatype type) const {
    return static_cast<std::uint64_t>(group.others()) * bytes(count, type);
  }
  template <class Count, class Type>
  [[nodiscard]] std::uint64_t of_others(const Group& group, const Count* counts, Type type) const {
    std::uint64_t sum = 0;
    for (int partner = 0; partner < group.partners(); ++partner)
      if (group.is_other(partner)) sum += bytes_at(partner, counts, type);
    return sum;
  }
};

inline std::uint64_t many(std::uint64_t number, std::uint64_t bytes) {
  return number * bytes;
}
inline std::uint64_t many(int number, std::uint64_t bytes) {
  return static_cast<std::uint64_t>(number) * bytes;
}

/// Blocks of one size. Not all arguments mean something on every rank, so they are read later.
template <class Count>
struct Block {
  const Caller& on;
  const void* in;
  Count in_count;
  MPI_Datatype in_type;
  Count out_count;
  MPI_Datatype out_type;

  [[nodiscard]] std::uint64_t contributed() const {
    return in == MPI_IN_PLACE ? of_each() : on.bytes(in_count, in_type);
  }
  [[nodiscard]] std::uint64_t of_each() const { return on.bytes(out_count, out_type); }
  [[nodiscard]] std::uint64_t of_all(const Group& group) const {
    return many(group.others(), of_each());
  }
};
template <class Count>
Block<Count> block(const Caller& on, const void* in, Count in_count, MPI_Datatype in_type,
                   Count out_count, MPI_Datatype out_type) {
  return {on, in, in_count, in_type, out_count, out_type};
}

/// Blocks whose sizes differ.
template <class Count>
struct BlockOf {
  const Caller& on;
  const void* in;
  Count in_count;
  MPI_Datatype in_type;
  const Count* out_counts;
  MPI_Datatype out_type;
  MPI_Comm comm;

  [[nodiscard]] std::uint64_t contributed() const {
    return in == MPI_IN_PLACE ? on.bytes(out_counts[Group::of(comm).own], out_type)
                              : on.bytes(in_count, in_type);
  }
  [[nodiscard]] std::uint64_t of_all(const Group& group) const {
    return on.of_others(group, out_counts, out_type);
  }
};
template <class Count>
BlockOf<Count> block_of(const Caller& on, const void* in, Count in_count, MPI_Datatype in_type,
                        const Count* out_counts, MPI_Datatype out_type, MPI_Comm comm) {
  return {on, in, in_count, in_type, out_counts, out_type, comm};
}

/// All ranks with which a rank exchanges blocks.
struct All {
  MPI_Comm comm;
};
inline All size_of(const Caller&, MPI_Comm comm) {
  return {comm};
}
template <class Count>
Share many(const All& all, const Block<Count>& block) {
  const auto group = Group::of(all.comm);
  return {many(group.others(), block.contributed()), block.of_all(group)};
}
template <class Count, class Type>
Share blocks(const Caller& on, const void* in, const Count* in_counts, Type in_type,
             const Count* out_counts, Type out_type, const All& all) {
  const auto group = Group::of(all.comm);
  const auto arriving = on.of_others(group, out_counts, out_type);
  return {in == MPI_IN_PLACE ? arriving : on.of_others(group, in_counts, in_type), arriving};
}

/// The ranks of a group, each of which gets a part of a sum.
struct Members {
  MPI_Comm comm;
};
inline Members group_size(const Caller&, MPI_Comm comm) {
  return {comm};
}
inline Share many(const Members& members, std::uint64_t bytes) {
  const auto group = Group::of(members.comm);
  if (group.others() == 0) return {};
  return {many(group.is_between() ? group.size : group.size - 1, bytes), bytes};
}
template <class Count>
Share divided(const Caller& on, const Count* counts, MPI_Datatype type, MPI_Comm comm) {
  const auto group = Group::of(comm);
  if (group.others() == 0) return {};
  Share share{0, on.bytes(counts[group.own], type)};
  for (int member = 0; member < group.size; ++member)
    if (group.is_between() || member != group.own) share.leaving += on.bytes(counts[member], type);
  return share;
}

/// The neighbours of a rank in a topology.
struct Neighbours {
  MPI_Comm comm;

  /// Calls for each that is another rank, with the number of its block.
  template <class Visit>
  void visit(Visit visit) const {
    const auto group = Group::of(comm);
    const auto targets = neighbours_of(comm);
    for (std::size_t at = 0; at < targets.size(); ++at)
      if (group.is_other(targets[at])) visit(static_cast<int>(at));
  }
};
inline Neighbours neighbours(const Caller&, MPI_Comm comm) {
  return {comm};
}
inline Share many(const Neighbours& neighbours, std::uint64_t bytes) {
  Share share;
  neighbours.visit([&](int) { share.leaving += bytes; });
  return share;
}
template <class Count, class Type>
Share sum(const Caller& on, const Count* counts, Type type, const Neighbours& neighbours) {
  Share share;
  neighbours.visit([&](int at) { share.leaving += on.bytes_at(at, counts, type); });
  return share;
}

/// What a rank is to an operation with a root.
enum class Part : std::uint8_t { root, member, none };

inline Part part_of(const Group& group, int root) {
  if (group.is_between())
    return root == MPI_ROOT ? Part::root : root == MPI_PROC_NULL ? Part::none : Part::member;
  return root == group.own ? Part::root : Part::member;
}
/// `in_counts` is the size of every block, or a list of sizes.
template <class Counts, class Count>
Share scattered(const Caller& on, Counts in_counts, MPI_Datatype in_type, const void*,
                Count out_count, MPI_Datatype out_type, int root, MPI_Comm comm) {
  const auto group = Group::of(comm);
  const auto part = part_of(group, root);
  if (part == Part::root) return {on.of_others(group, in_counts, in_type), 0};
  return {0, part == Part::member ? on.bytes(out_count, out_type) : 0};
}
}  // namespace nhalf::fabric::roles
