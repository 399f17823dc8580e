// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// What a call of MPI is to the network. The names are those that the table of calls uses
// (trace/calls), whose rows say what a call does; here they keep for whom it waits, what it sends
// to others, and whether an operation of several ranks has to move bytes.
#pragma once

#include <cstdint>

#include "fabric/interface.hpp"
#include "fabric/network.hpp"
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

struct Role {
  Partner partner{Doing::none, Doing::none, true};
  /// Bytes of messages that leave this rank.
  std::uint64_t sent_bytes = 0;
  /// The communicator of an operation of all its ranks, which has to move something.
  bool must_move = false;
  MPI_Comm comm{};
  /// The request that the call makes for a receive.
  MPI_Request* made = nullptr;
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
  role.sent_bytes = goes_elsewhere(to, comm) ? bytes : 0;
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
  role.sent_bytes = sent(on, call, bytes(), to, tag, comm).sent_bytes;
  return role;
}
inline Role collective(const Caller&, Call call, std::uint64_t bytes, MPI_Comm comm) {
  const bool must_move = trace::can_wait(call) && (bytes > 0 || call == Call::Barrier);
  return {.must_move = must_move, .comm = comm};
}
inline Role rooted(const Caller& on, Call call, std::uint64_t bytes, int, MPI_Comm comm) {
  return collective(on, call, bytes, comm);
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
template <class... Arguments>
std::uint64_t block_of(const Arguments&...) {
  return 0;
}
template <class... Arguments>
std::uint64_t blocks(const Arguments&...) {
  return 0;
}
template <class... Arguments>
std::uint64_t scattered(const Arguments&...) {
  return 0;
}
inline std::uint64_t neighbours(const Caller&, MPI_Comm) {
  return 0;
}
inline std::uint64_t size_of(const Caller&, MPI_Comm) {
  return 1;
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
template <class... Arguments>
Role prepared(const Arguments&...) {
  return {};
}
template <class... Arguments>
Role prepared_send(const Arguments&...) {
  return {};
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
using Started = Plain;
using RequestFreed = Plain;
using Cancelled = Plain;
using CheckedOnly = Plain;
using MatchedReceive = Plain;
using Received = Plain;
using MatchedProbe = Plain;
using Freed = Plain;
using WindowFreed = Plain;
using Named = Plain;
using Begun = Plain;
inline int taken(const Caller&, MPI_Message) {
  return 0;
}

/// Returns what the first of these requests that receives something waits for.
inline Role awaited(int count, const MPI_Request* requests) {
  for (int at = 0; at < count; ++at)
    if (const auto* partner = Receives::of_process().find(requests[at]))
      return {.partner = *partner};
  return {};
}
struct WaitOne {
  MPI_Request* request;
  MPI_Status* status;
  int* flag = nullptr;

  explicit(false) operator Role() const { return awaited(1, request); }
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

  explicit(false) operator Role() const { return awaited(count, requests); }
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
