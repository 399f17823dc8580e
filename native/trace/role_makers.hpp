// nhalf-needs: MPI
// Makes the role of a call from the arguments that the table names.
#pragma once

#include <cstdint>

#include "preloaded/mpi.hpp"
#include "trace/amounts.hpp"
#include "trace/requests/waits.hpp"
#include "trace/roles.hpp"

namespace nhalf::trace {

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

[[gnu::noinline]] inline Counted collective(Recorder& on, Call call, std::uint64_t bytes,
                                            MPI_Comm comm) {
  return {on.subject(call, Kind::collective, on.communicator(comm), no_partner, bytes)};
}

[[gnu::noinline]] inline Counted rooted(Recorder& on, Call call, std::uint64_t bytes, int root,
                                        MPI_Comm comm) {
  const auto& group = on.communicator(comm);
  const bool takes_part = root != MPI_PROC_NULL;
  return {on.subject(call, Kind::collective, group, group.partner(root), takes_part ? bytes : 0)};
}

[[gnu::noinline]] inline Prepared prepared(Recorder& on, Counted what, MPI_Comm comm,
                                           MPI_Request* request) {
  return {what.subject, 0, on.communicator(comm), request};
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
