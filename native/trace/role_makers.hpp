// nhalf-needs: MPI
// Makes the role of a call from the arguments that the table names.
#pragma once

#include "trace/requests/waits.hpp"
#include "trace/roles.hpp"

namespace nhalf::trace {
// The bytes that a rank contributes to an operation, or that it receives if it contributes none.

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

// What calls that are not short share is not inlined: there are hundreds of them.

[[gnu::always_inline]] inline Counted sent(Recorder& on, Call call, std::uint64_t bytes, int to,
                                           int tag, MPI_Comm comm) {
  const auto& group = on.communicator(comm);
  const auto partner = group.partner(to);
  return {on.subject(call, Kind::sent, group, partner, partner == no_process ? 0 : bytes), tag};
}

/// `bytes` returns the size of the message that is sent.
template <class Bytes>
auto exchanged(Recorder& on, Call call, Bytes bytes, int to, int tag, int source, MPI_Comm comm,
               MPI_Status*& status) {
  const auto subject = [&on, call, bytes, to, tag, comm] {
    return sent(on, call, bytes(), to, tag, comm).subject;
  };
  return Exchanged<decltype(subject)>{subject, tag, source, comm, status};
}

inline Begun begun(Recorder& on, int source, int tag, MPI_Comm comm, MPI_Request* request) {
  return {source, tag, on.communicator(comm), request};
}

template <class Bytes>
auto exchange_begun(Recorder& on, Call call, Bytes bytes, int to, int tag, Begun received,
                    MPI_Comm comm) {
  const auto subject = [&on, call, bytes, to, tag, comm] {
    return sent(on, call, bytes(), to, tag, comm).subject;
  };
  return ExchangeBegun<decltype(subject)>{subject, tag, received};
}

[[gnu::noinline]] inline Prepared prepared_send(Recorder& on, Call call, std::uint64_t bytes,
                                                int to, int tag, MPI_Comm comm,
                                                MPI_Request* request) {
  return {sent(on, call, bytes, to, tag, comm).subject, tag, on.communicator(comm), request};
}

[[gnu::noinline]] inline Prepared prepared_receive(Recorder& on, Call call, int tag, MPI_Comm comm,
                                                   MPI_Request* request) {
  const auto& group = on.communicator(comm);
  return {on.subject(call, Kind::received, group, no_process, 0), tag, group, request, true};
}

/// A vector of which each rank gets its own part.
struct Divided {
  std::uint64_t whole_bytes;
  std::uint64_t own_bytes;
};

template <class Count>
[[gnu::noinline]] Divided divided(Recorder& on, const Count* counts, MPI_Datatype type,
                                  MPI_Comm comm) {
  return {sum(on, counts, type, group_size(on, comm)),
          on.bytes(counts[on.communicator(comm).rank], type)};
}

/// The tag of an operation tells whether its result comes where the data was, for which libraries
/// have other algorithms.
[[gnu::noinline]] inline Counted collective(Recorder& on, Call call, std::uint64_t bytes,
                                            MPI_Comm comm, const void* in = nullptr) {
  return {on.subject(call, Kind::collective, on.communicator(comm), no_partner, bytes),
          in == MPI_IN_PLACE};
}

/// The tag of a vector that is divided also has twice the rank's part; 0 if that does not fit.
[[gnu::noinline]] inline Counted collective(Recorder& on, Call call, const Divided& bytes,
                                            MPI_Comm comm, const void* in) {
  auto role = collective(on, call, bytes.whole_bytes, comm, in);
  if (bytes.own_bytes <= INT32_MAX / 2) role.tag += 2 * static_cast<std::int32_t>(bytes.own_bytes);
  return role;
}

[[gnu::noinline]] inline Counted rooted(Recorder& on, Call call, std::uint64_t bytes, int root,
                                        MPI_Comm comm) {
  const auto& group = on.communicator(comm);
  const bool takes_part = root != MPI_PROC_NULL;
  return {on.subject(call, Kind::collective, group, group.partner(root), takes_part ? bytes : 0)};
}

[[gnu::noinline]] inline Prepared prepared(Recorder& on, Counted what, MPI_Comm comm,
                                           MPI_Request* request) {
  return {what.subject, what.tag, on.communicator(comm), request};
}

[[gnu::noinline]] inline Counted one_sided(Recorder& on, Call call, std::uint64_t bytes, int target,
                                           MPI_Win window) {
  const auto* group = Windows::of_process().find(number_of(window));
  if (group == nullptr) group = &on.communicator(MPI_COMM_WORLD);
  const auto partner = group->partner(target);
  return {on.subject(call, Kind::one_sided, *group, partner, partner == no_process ? 0 : bytes)};
}

/// Makes the role of a wait for no message in particular.
inline Counted waiting(Recorder& on, Call call) {
  return {on.wait(call)};
}

[[gnu::noinline]] inline Counted waiting(Recorder& on, Call call, MPI_Comm comm) {
  return {on.subject(call, Kind::waiting, on.communicator(comm), no_partner, 0)};
}

/// Makes the role of a call that begins or ends accesses to a window, of one rank or of all.
[[gnu::noinline]] inline Counted synchronised(Recorder& on, Call call, MPI_Win window) {
  const auto* group = Windows::of_process().find(number_of(window));
  if (group == nullptr) group = &on.communicator(MPI_COMM_WORLD);
  return {on.subject(call, Kind::waiting, *group, no_partner, 0)};
}

[[gnu::noinline]] inline Counted synchronised(Recorder& on, Call call, int target, MPI_Win window) {
  auto role = synchronised(on, call, window);
  const auto* group = Windows::of_process().find(number_of(window));
  if (group != nullptr) role.subject.partner = group->partner(target);
  return role;
}

[[gnu::noinline]] inline Made made(Recorder& on, Call call, MPI_Comm from, MPI_Comm* made) {
  return {collective(on, call, 0, from).subject, made};
}

/// Makes the role of a duplication, whose communicator may not be ready when the call returns.
[[gnu::noinline]] inline Made duplicated(Recorder& on, Call call, MPI_Comm from, MPI_Comm* made) {
  return {collective(on, call, 0, from).subject, made, &on.communicator(from)};
}
}  // namespace nhalf::trace
