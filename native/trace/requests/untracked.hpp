// nhalf-needs: MPI
// Keeps the tracked requests right where calls do not track theirs: a library uses the handles of
// ended requests again, and a handle must not stand for a receive that it was once.
#pragma once

#include <type_traits>

#include "preloaded/mpi.hpp"
#include "trace/carried_out.hpp"
#include "trace/handle_roles.hpp"
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

template <class Given>
[[gnu::always_inline]] inline const MPI_Request* as_request(const Given& given) {
  if constexpr (std::is_same_v<Given, MPI_Request*>)
    return given;
  else
    return nullptr;
}

template <class... Rest>
[[gnu::always_inline]] inline GivenRequests ended_by(int count, const MPI_Request* first,
                                                     const Rest&... /*unused*/) {
  return {count, first};
}
template <class... Rest>
[[gnu::always_inline]] inline GivenRequests ended_by(const MPI_Request* first,
                                                     const Rest&... /*unused*/) {
  return {1, first};
}

/// Returns the requests among all arguments of a call with a role; one that it makes is the last.
/// No tuple of them: the compiler would make one for each of some hundred lists of types.
template <class Role, class... Arguments>
[[gnu::always_inline]] inline GivenRequests requests_in(const Arguments&... given) {
  if constexpr (ends_requests<Role>) return ended_by(given...);
  const MPI_Request* last = nullptr;
  ((last = as_request(given)), ...);
  return {1, last};
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
