// nhalf-needs: MPI
// A call of the program from its wrapper on. Of calls that are not short, a wrapper has only what
// their arguments need; all else is shared by those whose roles are of one type.
#pragma once

#include <new>

#include "preloaded/entry.hpp"
#include "trace/handle_roles.hpp"
#include "trace/process.hpp"

// Calls that may take no longer than a message in a cache, so that a jump would show: each has a
// copy of all that counts it, in trace.cpp. Other calls share their code, in shared_calls.cpp: a
// copy in each of some five hundred is twice as long, and long to compile.

#define NHALF_SHORT_Send ~, NHALF_IS_SHORT
#define NHALF_SHORT_Isend ~, NHALF_IS_SHORT
#define NHALF_SHORT_Recv ~, NHALF_IS_SHORT
#define NHALF_SHORT_Irecv ~, NHALF_IS_SHORT
#define NHALF_SHORT_Wait ~, NHALF_IS_SHORT
#define NHALF_SHORT_Test ~, NHALF_IS_SHORT
#define NHALF_SHORT_Probe ~, NHALF_IS_SHORT
#define NHALF_SHORT_Iprobe ~, NHALF_IS_SHORT
#define NHALF_SHORT_Waitall ~, NHALF_IS_SHORT
#define NHALF_SHORT_Testall ~, NHALF_IS_SHORT

/// Passes a row of the table on to NHALF_IS_SHORT or to NHALF_NOT_SHORT.
#define NHALF_WRAPPED(name, ...) NHALF_FROM(NHALF_SHORT_##name)(name, __VA_ARGS__)
#define NHALF_FROM(...) NHALF_SECOND(__VA_ARGS__, NHALF_NOT_SHORT, ~)
#define NHALF_SECOND(first, second, ...) second

namespace nhalf::trace {
// Carries out a call by its role. A call with a handle never seen before runs first: the handle may
// be wrong, and only the library is to report that.

/// A call that a role runs between two readings of the clock.
template <bool may_wait, class Run>
struct Timed {
  static constexpr bool waits = may_wait;
  const Run& run;

  [[gnu::always_inline]] int operator()() const { return run(); }
  [[gnu::always_inline]] static Ticks now() { return trace::now(); }
  /// Returns when the call begins, after a look at what was before.
  [[gnu::always_inline]] static Ticks begin(Recorder& on) { return on.arrived(trace::now()); }
};

/// Asks the steps of a wrapper to run the call.
struct RunIt {};

/// A call of which one function makes the role, or runs it, so that roles of one type share their
/// code.
class AnyCall {
 public:
  /// `steps` makes the role from a recorder, and runs the call where it gets a RunIt.
  template <class Steps>
  [[gnu::always_inline]] AnyCall(const Steps& steps, bool may_wait)
      : waits(may_wait), steps_(&steps), step_(&stepped<Steps>) {}

  /// Runs the call, or answers for one that has succeeded before.
  int operator()() const {
    if (!is_past_) return step_(steps_, nullptr, nullptr);
    has_run_ = true;
    return MPI_SUCCESS;
  }
  [[nodiscard]] Ticks now() const { return !is_past_ ? trace::now() : has_run_ ? ended_ : began_; }
  [[nodiscard]] Ticks begin(Recorder& on) const {
    return is_past_ ? began_ : on.arrived(trace::now());
  }

  /// Runs the call before its role is made, and keeps when it began and ended.
  int run_first(Recorder& on) {
    on.forget_lack();
    began_ = on.arrived(trace::now());
    const int error = (*this)();
    ended_ = trace::now();
    is_past_ = true;
    return error;
  }

  /// Makes the role, whose type is that of the steps.
  template <class Role>
  [[gnu::always_inline]] Role role(Recorder& on) const {
    alignas(Role) std::array<std::byte, sizeof(Role)> place;
    step_(steps_, &on, place.data());
    return *std::launder(reinterpret_cast<Role*>(place.data()));
  }

  bool waits;

 private:
  template <class Steps>
  static int stepped(const void* steps, Recorder* on, void* role) {
    const auto& own = *static_cast<const Steps*>(steps);
    if (on == nullptr) return own(RunIt());
    new (role) auto(own(*on));
    return 0;
  }

  const void* steps_;
  int (*step_)(const void*, Recorder*, void*);
  bool is_past_ = false;
  mutable bool has_run_ = false;
  Ticks began_ = 0;
  Ticks ended_ = 0;
};

template <class Role>
[[gnu::noinline]] int carried_out_apart(Recorder& on, Call call, AnyCall run) {
  std::optional<Recorder::Asking> asking;
  while (true) {
    const auto role = run.role<Role>(on);
    if (asking || !on.is_lacking()) return role.carry_out(on, call, run);
    const int error = run.run_first(on);
    if (error != MPI_SUCCESS) return error;
    asking.emplace(on);
  }
}

/// Carries out a short call; one with a handle never seen before is not.
template <Call call, class Steps>
[[gnu::always_inline]] inline int carried_out_here(Recorder& on, const Steps& steps) {
  constexpr bool waits = can_wait(call);
  const auto role = steps(on);
  if (on.is_lacking()) [[unlikely]]
    return carried_out_apart<decltype(steps(on))>(on, call, AnyCall(steps, waits));
  const auto run = [&steps] { return steps(RunIt()); };
  return role.carry_out(on, call, Timed<waits, decltype(run)>{run});
}

// Keeps the tracked requests right where calls do not track theirs: a library uses the handles of
// ended requests again, and a handle must not stand for a receive that it was once.

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

using calls::can_wait;
using calls::next;

/// Takes the recorder and counts a call, which `carry_out` runs; `pass` runs it uncounted.
template <class Role, class CarryOut, class Pass>
[[gnu::always_inline]] inline int counted(Caller caller, Call call, const CarryOut& carry_out,
                                          const MPI_Request* made, const Pass& pass) {
  const Here here(caller);
  Recorder* const recorder = here.recorder();
  if (recorder == nullptr) [[unlikely]]
    return pass();
  recorder->called_from(caller);
  if (Injection::is_on) [[unlikely]]
    Injection::of_process().enter(recorder->injected, static_cast<std::uint16_t>(call));
  const int error = carry_out(*recorder);
  if (Injection::is_on) [[unlikely]]
    recorder->hold(call);
  if constexpr (makes_untracked<Role>) forget_namesake(error, made);
  return error;
}

template <class Role>
[[gnu::noinline]] int counted_apart(Caller caller, Call call, GivenRequests requests,
                                    const AnyCall& any) {
  return counted<Role>(
      caller, call, [&](Recorder& on) { return carried_out_apart<Role>(on, call, any); },
      requests.first, [&] { return passed_over<Role>(any, requests); });
}

/// The role of a call whose `steps` make it, and run it.
template <class Steps>
using RoleOf = decltype(std::declval<const Steps&>()(std::declval<Recorder&>()));

/// Counts a call.
template <Call call, bool is_short, class Steps>
[[gnu::always_inline]] inline int wrapped(Caller caller, const Steps& steps,
                                          GivenRequests requests) {
  using Role = RoleOf<Steps>;
  constexpr bool waits = can_wait(call);
  if constexpr (is_short)
    return counted<Role>(
        caller, call, [&](Recorder& on) { return carried_out_here<call>(on, steps); },
        requests.first, [&] { return passed_over<Role>(AnyCall(steps, waits), requests); });
  else
    return counted_apart<Role>(caller, call, requests, AnyCall(steps, waits));
}
}  // namespace nhalf::trace

/// Makes the wrapper of a call from its row of the table, with the types of the library's function.
#define NHALF_TRACED(is_short, name, self_, arguments, ...)                         \
  static int traced_##name(NHALF_PARAMETERS arguments) {                            \
    using namespace nhalf::trace;                                                   \
    constexpr Call self = Call::self_;                                              \
    auto* const then = next<self, decltype(PMPI_##name)>("MPI_" #name);             \
    const auto steps = [&]<class Step>([[maybe_unused]] Step&& on) {                \
      if constexpr (std::is_same_v<Step, RunIt>)                                    \
        return then arguments;                                                      \
      else                                                                          \
        return (__VA_ARGS__);                                                       \
    };                                                                              \
    return wrapped<self, is_short>(NHALF_CALLER, steps,                             \
                                   requests_in<RoleOf<decltype(steps)>> arguments); \
  }                                                                                 \
  NHALF_ENTRY(MPI_##name, NHALF_AS(name, traced_##name))
