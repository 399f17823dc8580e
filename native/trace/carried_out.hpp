// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// Carries out a call by its role. A call with a handle never seen before runs first: the handle may
// be wrong, and only the library is to report that.
#pragma once

#include "preloaded/mpi.hpp"
#include "trace/names.hpp"
#include "trace/recorder.hpp"
#include "trace/ticks.hpp"

namespace nhalf::trace {

/// A call that a role runs between two readings of the clock.
template <class Run>
struct Timed {
  const Run& run;

  [[gnu::always_inline]] int operator()() const { return run(); }
  [[gnu::always_inline]] static Ticks now() { return trace::now(); }
  /// Returns when the call begins, after a look at what was before.
  [[gnu::always_inline]] static Ticks begin(Recorder& on) { return on.arrived(trace::now()); }
};

/// A call that has succeeded before a role counts it.
struct Past {
  Ticks began;
  Ticks ended;
  mutable bool has_run = false;

  int operator()() const {
    has_run = true;
    return MPI_SUCCESS;
  }
  [[nodiscard]] Ticks now() const { return has_run ? ended : began; }
  [[nodiscard]] Ticks begin(Recorder& /*unused*/) const { return began; }
};

/// Runs the call, then makes its role and counts it.
template <bool waits, class Role, class Run>
[[gnu::noinline]] int run_first(Recorder& on, Call call, const Role& role, const Run& run) {
  on.forget_lack();
  const Ticks begin = on.arrived(now());
  const int error = run();
  const Ticks end = now();
  if (error != MPI_SUCCESS) return error;
  const Recorder::Asking asking(on);
  const auto made_role = role();
  return made_role.template carry_out<waits>(on, call, Past{begin, end});
}

template <bool waits, class Role, class Run>
[[gnu::always_inline]] inline int carried_out(Recorder& on, Call call, const Role& role,
                                              const Run& run) {
  const auto made_role = role();
  if (on.is_lacking()) [[unlikely]]
    return run_first<waits>(on, call, role, run);
  return made_role.template carry_out<waits>(on, call, Timed<Run>{run});
}

}  // namespace nhalf::trace
