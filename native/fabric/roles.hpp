// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// What a call of MPI is to the network. The names are those that the table of calls uses
// (trace/calls), whose rows say what a call does; here they keep for whom it waits, what it sends
// to others, and whether an operation of several ranks has to move bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fabric/interface.hpp"
#include "fabric/network.hpp"
#include "fabric/operations.hpp"
#include "fabric/receives.hpp"
#include "fabric/region.hpp"
#include "preloaded/mpi.hpp"
#include "trace/library.hpp"
#include "trace/names.hpp"

namespace nhalf::fabric::roles {

using trace::Call;

/// Looks up what rows of the table ask for.
struct Caller {
  template <class Count>
  [[nodiscard]] std::uint64_t bytes(Count count, MPI_Datatype type) const {
    MPI_Count size = 0;
    if (count <= 0 || NHALF_OWN(Type_size_x)(type, &size) != MPI_SUCCESS || size <= 0) return 0;
    return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size);
  }
};

/// Requests that a call is given.
struct Requests {
  int count = 0;
  const MPI_Request* first = nullptr;
};

struct Role {
  Partner partner{Doing::none, Doing::none, true};
  /// What leaves this rank for others at least.
  Amount sent{};
  /// The communicator of an operation of all its ranks, which has to move something.
  bool must_move = false;
  MPI_Comm comm{};
  /// The request that the call makes for a receive.
  MPI_Request* made = nullptr;
  /// The request that the call makes for an operation that is started later.
  MPI_Request* prepared = nullptr;
  /// Requests that the call starts, completes unless its flag is 0, or frees.
  Requests started{};
  Requests completed{};
  const int* flag = nullptr;
  Requests freed{};
  /// Why the call cannot be served.
  const char* refused = nullptr;
};

inline bool is_world(MPI_Comm comm) {
  return comm == MPI_COMM_WORLD;
}
inline Partner partner(int rank, int tag, MPI_Comm comm) {
  return {rank == MPI_ANY_SOURCE ? Doing::any : rank, tag == MPI_ANY_TAG ? Doing::any : tag,
          is_world(comm)};
}
inline bool goes_elsewhere(int to, MPI_Comm comm) {
  int own = 0;
  return to >= 0 && NHALF_OWN(Comm_rank)(comm, &own) == MPI_SUCCESS && to != own;
}

inline Role sent(const Caller&, Call, std::uint64_t bytes, int to, int tag, MPI_Comm comm) {
  Role role{.partner = partner(to, tag, comm)};
  if (goes_elsewhere(to, comm)) role.sent = {bytes, 1};
  return role;
}
template <class Bytes>
Role exchanged(const Caller& on, Call call, Bytes bytes, int to, int tag, int from, MPI_Comm comm,
               const MPI_Status*) {
  Role role = sent(on, call, bytes(), to, tag, comm);
  role.partner = {partner(from, tag, comm).rank, Doing::none, is_world(comm)};
  return role;
}
inline Role begun(const Caller&, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  return {.partner = partner(from, tag, comm), .made = request};
}
template <class Bytes>
Role exchange_begun(const Caller& on, Call call, Bytes bytes, int to, int tag, const Role& received,
                    MPI_Comm comm) {
  Role role = received;
  role.sent = sent(on, call, bytes(), to, tag, comm).sent;
  return role;
}
inline bool is_named(Call call, std::string_view part) {
  return std::string_view(trace::call_names[static_cast<std::size_t>(call)]).find(part) !=
         std::string_view::npos;
}
/// Whether every rank has to send something to others.
inline bool sends_everywhere(Call call) {
  switch (call) {
    case Call::Barrier:
    case Call::Ibarrier:
    case Call::Allreduce:
    case Call::Iallreduce:
    case Call::Allgather:
    case Call::Iallgather:
    case Call::Alltoall:
    case Call::Ialltoall:
    case Call::Reduce_scatter_block:
    case Call::Ireduce_scatter_block:
      return true;
    default:
      return false;
  }
}
/// A rank may have no neighbour but itself.
inline Role collective(const Caller&, Call call, std::uint64_t bytes, MPI_Comm comm) {
  const bool is_barrier = is_named(call, "arrier");
  Role role{.must_move = (bytes > 0 || is_barrier) && !is_named(call, "eighbor"), .comm = comm};
  if (role.must_move && sends_everywhere(call)) role.sent.messages = 1;
  return role;
}
/// The root of a gathering keeps its own part, whatever its size.
inline Role rooted(const Caller& on, Call call, std::uint64_t bytes, int root, MPI_Comm comm) {
  const bool stays = is_named(call, "atherv") && !goes_elsewhere(root, comm);
  return collective(on, call, stays ? 0 : bytes, comm);
}
inline Role waiting(const Caller&, Call, MPI_Comm) {
  return {};
}

/// Amounts that differ from rank to rank: an operation may move nothing here, so nothing is
/// concluded from them.
template <class... Arguments>
std::uint64_t sum(const Arguments&...) {
  return 0;
}
/// What a rank has for all others of operations whose amounts differ.
template <class Count, class Counts>
std::uint64_t block_of(const Caller& on, const void* in, Count in_count, MPI_Datatype in_type,
                       const Counts*, MPI_Datatype, MPI_Comm) {
  return in == MPI_IN_PLACE ? 0 : on.bytes(in_count, in_type);
}
template <class... Arguments>
std::uint64_t blocks(const Arguments&...) {
  return 0;
}
/// All ranks of a communicator; their number is of no interest where every block has one size.
struct All {
  MPI_Comm comm;

  explicit(false) operator std::uint64_t() const { return 1; }
};
template <class Count>
std::uint64_t blocks(const Caller& on, const void* in, const Count* in_counts, MPI_Datatype in_type,
                     const Count* out_counts, MPI_Datatype out_type, const All& all) {
  int own = 0;
  int ranks = 0;
  int is_between = 0;
  NHALF_OWN(Comm_rank)(all.comm, &own);
  NHALF_OWN(Comm_size)(all.comm, &ranks);
  NHALF_OWN(Comm_test_inter)(all.comm, &is_between);
  if (is_between != 0) return 0;
  const bool is_in_place = in == MPI_IN_PLACE;
  std::uint64_t bytes = 0;
  for (int other = 0; other < ranks; ++other)
    if (other != own)
      bytes +=
          on.bytes((is_in_place ? out_counts : in_counts)[other], is_in_place ? out_type : in_type);
  return bytes;
}
template <class... Arguments>
std::uint64_t scattered(const Arguments&...) {
  return 0;
}
inline std::uint64_t neighbours(const Caller&, MPI_Comm) {
  return 0;
}
inline All size_of(const Caller&, MPI_Comm comm) {
  return {comm};
}
inline std::uint64_t group_size(const Caller&, MPI_Comm) {
  return 1;
}
inline std::uint64_t many(std::uint64_t number, std::uint64_t bytes) {
  return number * bytes;
}
template <class Count>
std::uint64_t block(const Caller& on, const void* in, Count in_count, MPI_Datatype in_type,
                    Count out_count, MPI_Datatype out_type) {
  return in == MPI_IN_PLACE ? on.bytes(out_count, out_type) : on.bytes(in_count, in_type);
}

/// Calls of which the network needs to know no more than that they are calls.
template <class... Arguments>
Role one_sided(const Arguments&...) {
  return {};
}
template <class... Arguments>
Role synchronised(const Arguments&...) {
  return {};
}
inline Role prepared(const Caller&, Role role, MPI_Comm, MPI_Request* request) {
  role.prepared = request;
  return role;
}
inline Role prepared_send(const Caller& on, Call call, std::uint64_t bytes, int to, int tag,
                          MPI_Comm comm, MPI_Request* request) {
  return prepared(on, sent(on, call, bytes, to, tag, comm), comm, request);
}
template <class... Arguments>
Role prepared_receive(const Arguments&...) {
  return {};
}
template <class... Arguments>
Role made(const Arguments&...) {
  return {};
}
template <class... Arguments>
Role duplicated(const Arguments&...) {
  return {};
}
/// Open MPI reaches the memory of ranks on its node without the network.
template <class... Arguments>
Role window_made(const Arguments&...) {
#if defined(OPEN_MPI)
  const Interface* const net = network();
  if (net != nullptr && net->shares_node())
    return {.refused =
                "windows of Open MPI bypass the network within a node; place one rank on each"};
#endif
  return {};
}
struct Plain {
  template <class... Arguments>
  explicit(false) Plain(const Arguments&...) {}
  explicit(false) operator Role() const { return {}; }
};
using Cancelled = Plain;
using CheckedOnly = Plain;
using MatchedReceive = Plain;
using Received = Plain;
using MatchedProbe = Plain;
using Freed = Plain;
using WindowFreed = Plain;
using Named = Plain;
using Begun = Plain;
struct Started {
  int count;
  MPI_Request* requests;

  explicit(false) operator Role() const { return {.started = {count, requests}}; }
};
struct RequestFreed {
  MPI_Request* request;

  explicit(false) operator Role() const { return {.freed = {1, request}}; }
};
inline int taken(const Caller&, MPI_Message) {
  return 0;
}

/// Returns what the first of these requests that receives something waits for.
inline Role awaited(int count, const MPI_Request* requests) {
  for (int at = 0; at < count; ++at)
    if (const auto* partner = latest_receives().find(requests[at])) return {.partner = *partner};
  return {};
}
struct WaitOne {
  MPI_Request* request;
  MPI_Status* status;
  int* flag = nullptr;

  explicit(false) operator Role() const {
    Role role = awaited(1, request);
    role.completed = {1, request};
    role.flag = flag;
    return role;
  }
};
struct WaitAny {
  int count;
  MPI_Request* requests;
  int* index;
  MPI_Status* status;
  int* flag = nullptr;

  explicit(false) operator Role() const { return awaited(count, requests); }
};
struct WaitAll {
  int count;
  MPI_Request* requests;
  MPI_Status* statuses;
  int* flag = nullptr;

  explicit(false) operator Role() const {
    Role role = awaited(count, requests);
    role.completed = {count, requests};
    role.flag = flag;
    return role;
  }
};
struct WaitSome {
  int count;
  MPI_Request* requests;
  int* done;
  int* indices;
  MPI_Status* statuses;

  explicit(false) operator Role() const { return awaited(count, requests); }
};

}  // namespace nhalf::fabric::roles
