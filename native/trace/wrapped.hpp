// nhalf-needs: MPI
// A call of the program from its wrapper on. Of calls that are not short, a wrapper has only what
// their arguments need; all else is shared by those whose roles are of one type.
#pragma once

#include <type_traits>
#include <utility>

#include "calls/library.hpp"
#include "calls/traits.hpp"
#include "preloaded/entry.hpp"
#include "preloaded/mpi.hpp"
#include "trace/carried_out.hpp"
#include "trace/here.hpp"
#include "trace/requests/untracked.hpp"

namespace nhalf::trace {

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

/// Makes the wrapper of a call from its row of the table.
#define NHALF_TRACED(is_short, name, self_, parameters, arguments, ...)             \
  static int traced_##name parameters {                                             \
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
  NHALF_ENTRY(MPI_##name, &traced_##name)
