// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// Keeps the tracked requests right where calls do not track theirs: a library uses the handles of
// ended requests again, and a handle must not stand for a receive that it was once.
#pragma once

#include <tuple>
#include <type_traits>

#include "preloaded/mpi.hpp"
#include "trace/carried_out.hpp"
#include "trace/handle_roles.hpp"
#include "trace/requests/request_of.hpp"
#include "trace/requests/requests.hpp"
#include "trace/requests/waits.hpp"
#include "trace/roles.hpp"

namespace nhalf::trace {

/// Whether calls with a role make a request that is not tracked, if they make one.
template <class Role>
inline constexpr bool makes_untracked = std::is_same_v<Role, Counted> || std::is_same_v<Role, Made>;

/// Whether calls with a role may end requests.
template <class Role>
inline constexpr bool ends_requests =
    std::is_same_v<Role, WaitOne> || std::is_same_v<Role, WaitAny> ||
    std::is_same_v<Role, WaitAll> || std::is_same_v<Role, WaitSome> ||
    std::is_same_v<Role, RequestFreed>;

/// The requests that a call ends, or where it puts the one that it makes.
struct GivenRequests {
  int count = 1;
  const MPI_Request* first = nullptr;
};

/// Returns the requests among all arguments of a call with a role.
template <class Role, class Arguments>
[[gnu::always_inline]] inline GivenRequests requests_in(const Arguments& given) {
  if constexpr (!ends_requests<Role>)
    return {1, request_of(given)};
  else if constexpr (std::is_same_v<std::tuple_element_t<0, Arguments>, int&>)
    return {std::get<0>(given), std::get<1>(given)};
  else
    return {1, std::get<0>(given)};
}

/// Forgets what had the handle of a new request.
[[gnu::always_inline]] inline void forget_namesake(int error, const MPI_Request* made) {
  if (made == nullptr || !Requests::has_had_any() || error != MPI_SUCCESS) return;
  Requests::of_process().freed(number_of(*made));
}

/// Runs a call that is not counted.
template <class Role>
[[gnu::noinline]] int passed_over(const AnyCall& run, GivenRequests requests) {
  if constexpr (std::is_same_v<Role, Cancelled>) Requests::of_process().some_are_cancelled();
  if constexpr (ends_requests<Role>) Requests::of_process().drop(requests.count, requests.first);
  const int error = run();
  if constexpr (!ends_requests<Role> && !std::is_same_v<Role, Started> &&
                !std::is_same_v<Role, Cancelled>)
    forget_namesake(error, requests.first);
  return error;
}

}  // namespace nhalf::trace
