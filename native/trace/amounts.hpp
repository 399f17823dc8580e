// nhalf-needs: MPI
// The bytes that a rank contributes to an operation, or that it receives if it contributes none.
#pragma once

#include <cstdint>

#include "preloaded/mpi.hpp"
#include "trace/communicators.hpp"
#include "trace/recorder.hpp"

namespace nhalf::trace {

/// Whether the rank is the root; on an intercommunicator it passes MPI_ROOT.
inline bool is_root(const Communicator& on, int root) {
  return root == MPI_ROOT || (!on.is_between && root == on.rank);
}

inline std::uint64_t many(std::uint64_t number, std::uint64_t bytes) {
  return number * bytes;
}

template <class Count>
[[gnu::noinline]] std::uint64_t sum(Recorder& on, const Count* counts, MPI_Datatype type,
                                    std::uint64_t number) {
  std::uint64_t items = 0;
  for (std::uint64_t at = 0; at < number; ++at) items += static_cast<std::uint64_t>(counts[at]);
  return items == 0 ? 0 : items * on.bytes(1, type);
}

template <class Count>
[[gnu::noinline]] std::uint64_t sum(Recorder& on, const Count* counts, const MPI_Datatype* types,
                                    std::uint64_t number) {
  std::uint64_t bytes = 0;
  for (std::uint64_t at = 0; at < number; ++at) bytes += on.bytes(counts[at], types[at]);
  return bytes;
}

/// Returns the bytes of a block, which MPI_IN_PLACE leaves in the receive buffer.
template <class Count>
[[gnu::noinline]] std::uint64_t block(Recorder& on, const void* in, Count in_count,
                                      MPI_Datatype in_type, Count out_count,
                                      MPI_Datatype out_type) {
  return in == MPI_IN_PLACE ? on.bytes(out_count, out_type) : on.bytes(in_count, in_type);
}

template <class Count>
[[gnu::noinline]] std::uint64_t block_of(Recorder& on, const void* in, Count in_count,
                                         MPI_Datatype in_type, const Count* out_counts,
                                         MPI_Datatype out_type, MPI_Comm comm) {
  if (in != MPI_IN_PLACE) return on.bytes(in_count, in_type);
  return on.bytes(out_counts[on.communicator(comm).rank], out_type);
}

/// Returns the bytes of all blocks of an all-to-all.
template <class Count, class Type>
[[gnu::noinline]] std::uint64_t blocks(Recorder& on, const void* in, const Count* in_counts,
                                       Type in_type, const Count* out_counts, Type out_type,
                                       std::uint64_t number) {
  return in == MPI_IN_PLACE ? sum(on, out_counts, out_type, number)
                            : sum(on, in_counts, in_type, number);
}

template <class Count>
[[gnu::noinline]] std::uint64_t scattered(Recorder& on, Count in_count, MPI_Datatype in_type,
                                          const void* out, Count out_count, MPI_Datatype out_type,
                                          int root, MPI_Comm comm) {
  static_cast<void>(out);
  const auto& group = on.communicator(comm);
  if (is_root(group, root)) return many(group.partner_count, on.bytes(in_count, in_type));
  return root == MPI_PROC_NULL ? 0 : on.bytes(out_count, out_type);
}

template <class Count>
[[gnu::noinline]] std::uint64_t scattered(Recorder& on, const Count* in_counts,
                                          MPI_Datatype in_type, const void* out, Count out_count,
                                          MPI_Datatype out_type, int root, MPI_Comm comm) {
  static_cast<void>(out);
  const auto& group = on.communicator(comm);
  if (is_root(group, root)) return sum(on, in_counts, in_type, group.partner_count);
  return root == MPI_PROC_NULL ? 0 : on.bytes(out_count, out_type);
}

[[gnu::noinline]] inline std::uint64_t group_size(Recorder& on, MPI_Comm comm) {
  return on.communicator(comm).member_count;
}

[[gnu::noinline]] inline std::uint64_t size_of(Recorder& on, MPI_Comm comm) {
  return on.communicator(comm).partner_count;
}

/// Returns how many neighbours a rank sends to.
[[gnu::noinline]] inline std::uint64_t neighbours(MPI_Comm comm, int rank) {
  int kind = MPI_UNDEFINED;
  int in = 0;
  int out = 0;
  int weighted = 0;
  NHALF_OWN(Topo_test)(comm, &kind);
  if (kind == MPI_CART) {
    NHALF_OWN(Cartdim_get)(comm, &out);
    out *= 2;
  } else if (kind == MPI_GRAPH) {
    NHALF_OWN(Graph_neighbors_count)(comm, rank, &out);
  } else if (kind == MPI_DIST_GRAPH) {
    NHALF_OWN(Dist_graph_neighbors_count)(comm, &in, &out, &weighted);
  }
  return static_cast<std::uint64_t>(out);
}

inline std::uint64_t neighbours(Recorder& on, MPI_Comm comm) {
  const int rank = on.communicator(comm).rank;
  return on.is_lacking() ? 0 : neighbours(comm, rank);
}

}  // namespace nhalf::trace
