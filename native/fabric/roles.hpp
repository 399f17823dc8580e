// nhalf-needs: MPI
// Makes the role of a call from the arguments that the table names. The names are those that the
// table of calls uses (calls/), whose rows say what a call does.
#pragma once

#include "fabric/guard/amounts.hpp"
#include "fabric/role.hpp"

namespace nhalf::fabric::roles {
using calls::Call;
using calls::Data;
using calls::Effect;
using calls::Flow;

inline bool is_world(MPI_Comm comm) {
  return comm == MPI_COMM_WORLD;
}
inline Partner partner(int rank, int tag, MPI_Comm comm) {
  return {rank == MPI_ANY_SOURCE ? Doing::any : rank, tag == MPI_ANY_TAG ? Doing::any : tag,
          is_world(comm)};
}
inline Role sent(const Caller&, Call, std::uint64_t bytes, int to, int tag, MPI_Comm comm) {
  Role role{.partner = partner(to, tag, comm)};
  if (Group::of(comm).is_other(to)) role.amount = {bytes, 1};
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
  role.amount = sent(on, call, bytes(), to, tag, comm).amount;
  return role;
}
inline Role collective(const Share& share, const Group& group) {
  const Amount amount{share.leaving, share.leaving > 0 ? 1u : 0u, share.arriving};
  return {.amount = amount, .ranks = amount.is_something() ? group.ranks() : 0};
}
inline Role collective(const Caller&, Call, const Share& share, MPI_Comm comm) {
  return collective(share, Group::of(comm));
}
/// Blocks of all ranks for all.
template <class Blocks>
  requires requires(const Blocks& blocks, const Group& group) { blocks.of_all(group); }
Role collective(const Caller&, Call, const Blocks& blocks, MPI_Comm comm) {
  const auto group = Group::of(comm);
  if (group.others() == 0) return {};
  return collective({blocks.contributed(), blocks.of_all(group)}, group);
}
/// A barrier, a sum, or a block for all neighbours.
inline Role collective(const Caller& on, Call call, std::uint64_t bytes, MPI_Comm comm) {
  const auto group = Group::of(comm);
  const auto& operation = calls::traits_of(call).operation;
  if (operation.flow == Flow::among_neighbours) {
    const auto leaving = many(neighbours(on, comm), bytes).leaving;
    return collective({std::min(leaving, bytes), 0}, group);
  }
  if (group.others() == 0) return {};
  if (operation.data == Data::nothing) return {.amount = {0, 1}, .ranks = group.ranks()};
  // Of a sum up to each rank, the first one gets nothing, and what the last one has goes nowhere.
  const bool is_scan = operation.flow == Flow::up_to_each;
  const bool is_first = is_scan && group.own == 0;
  const bool is_last = is_scan && group.own == group.size - 1;
  return collective({is_last ? 0 : bytes, is_first ? 0 : bytes}, group);
}
/// In place or not, the same bytes pass.
template <class Contributed>
Role collective(const Caller& on, Call call, const Contributed& bytes, MPI_Comm comm,
                const void* /*in*/) {
  return collective(on, call, bytes, comm);
}
inline Role rooted(const Caller&, Call, const Share& share, int, MPI_Comm comm) {
  return collective(share, Group::of(comm));
}
template <class Blocks>
  requires requires(const Blocks& blocks, const Group& group) { blocks.of_all(group); }
Role rooted(const Caller&, Call, const Blocks& blocks, int root, MPI_Comm comm) {
  const auto group = Group::of(comm);
  const auto part = part_of(group, root);
  if (group.others() == 0 || part == Part::none) return {};
  if (part == Part::root) return collective({0, blocks.of_all(group)}, group);
  return collective({blocks.contributed(), 0}, group);
}
/// A broadcast goes from the root, a sum to it.
inline Role rooted(const Caller&, Call call, std::uint64_t bytes, int root, MPI_Comm comm) {
  const auto group = Group::of(comm);
  const auto part = part_of(group, root);
  if (group.others() == 0 || part == Part::none) return {};
  const bool leaves =
      (part == Part::root) == (calls::traits_of(call).operation.flow == Flow::from_root);
  return collective({leaves ? bytes : 0, leaves ? 0 : bytes}, group);
}
inline Role waiting(const Caller&, Call, MPI_Comm) {
  return {};
}

inline Role one_sided(const Caller&, Call call, std::uint64_t bytes, int target, MPI_Win window) {
  MPI_Group ranks;
  int own = 0;
  NHALF_OWN(Win_get_group)(window, &ranks);
  NHALF_OWN(Group_rank)(ranks, &own);
  NHALF_OWN(Group_free)(&ranks);
  if (target < 0 || target == own || bytes == 0) return {};
  Role role{.reach = {window, target}, .has_reach = true};
  role.amount = calls::traits_of(call).effect == Effect::leaves ? Amount{bytes}
                                                                : Amount{.arriving_bytes = bytes};
  return role;
}
inline Role synchronised(const Caller&, Call call, int target, MPI_Win window) {
  return {.reach = {window, target, true},
          .has_reach = calls::traits_of(call).effect == Effect::completes};
}
inline Role synchronised(const Caller& on, Call call, MPI_Win window) {
  return synchronised(on, call, Reach::everyone, window);
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
/// Memory that ranks share takes no virtual time, and Open MPI takes it for every window of ranks
/// on one node.
inline Role window_made(const Caller&, Call call, MPI_Comm comm, MPI_Win*) {
  if (call == Call::Win_allocate_shared && Group::of(comm).others() > 0)
    return {
        .refusal = {"MPI_Win_allocate_shared gives ranks memory that they share, which takes no "
                    "virtual time",
                    "inside"}};
#if defined(OPEN_MPI)
  const Interface* const net = network();
  if (net != nullptr && net->shares_node())
    return {.refusal = {"windows of Open MPI bypass the network within a node", "inside"}};
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
using Named = Plain;
using Begun = Plain;
struct Started {
  int count;
  MPI_Request* requests;

  explicit(false) operator Role() const { return {.started = {count, requests}}; }
};
struct WindowFreed {
  MPI_Win* window;

  explicit(false) operator Role() const { return {.window_freed = window}; }
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
    role.completed = {{1, request}, flag};
    return role;
  }
};
struct WaitAny {
  int count;
  MPI_Request* requests;
  int* index;
  MPI_Status* status;
  int* flag = nullptr;

  explicit(false) operator Role() const {
    Role role = awaited(count, requests);
    role.completed = {{count, requests}, flag, &one_request, index};
    return role;
  }

  static constexpr int one_request = 1;
};
struct WaitAll {
  int count;
  MPI_Request* requests;
  MPI_Status* statuses;
  int* flag = nullptr;

  explicit(false) operator Role() const {
    Role role = awaited(count, requests);
    role.completed = {{count, requests}, flag};
    return role;
  }
};
struct WaitSome {
  int count;
  MPI_Request* requests;
  int* completed_count;
  int* indices;
  MPI_Status* statuses;

  explicit(false) operator Role() const {
    Role role = awaited(count, requests);
    role.completed = {{count, requests}, nullptr, completed_count, indices};
    return role;
  }
};
}  // namespace nhalf::fabric::roles
