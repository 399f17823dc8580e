// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// Carries out a call by its role. A call with a handle never seen before runs first: the handle may
// be wrong, and only the library is to report that.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "calls/names.hpp"
#include "preloaded/mpi.hpp"
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

/// A call whose arguments its role does not know, so that roles of one type share their code.
class AnyCall {
 public:
  template <class Run>
  explicit AnyCall(const Run& run)
      : arguments_(&run),
        run_([](const void* arguments) { return (*static_cast<const Run*>(arguments))(); }) {}

  int operator()() const { return run_(arguments_); }

 private:
  const void* arguments_;
  int (*run_)(const void*);
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

/// Whether a call may take no longer than a message in a cache, so that a jump would show. Others
/// share their code: a copy in each of some five hundred is twice as long, and long to compile.
constexpr bool is_short(std::string_view call) {
  constexpr std::array<std::string_view, 10> calls{"Send", "Isend", "Recv",   "Irecv",   "Wait",
                                                   "Test", "Probe", "Iprobe", "Waitall", "Testall"};
  for (const auto name : calls)
    if (name == call) return true;
  return false;
}

template <bool waits, class Role, class Run>
[[gnu::noinline]] int carried_out_apart(Recorder& on, Call call, const Role& role, const Run& run) {
  return role.template carry_out<waits>(on, call, run);
}

/// Runs the call before its role is made; `past` gets when it began and ended.
[[gnu::noinline]] inline int run_first(Recorder& on, AnyCall run, Past& past) {
  on.forget_lack();
  past.began = on.arrived(now());
  const int error = run();
  past.ended = now();
  return error;
}

template <bool waits, bool is_short, class Role, class Run>
[[gnu::always_inline]] inline int carried_out(Recorder& on, Call call, const Role& role,
                                              const Run& run) {
  std::optional<Recorder::Asking> asking;
  Past past{};
  while (true) {
    const auto made_role = role();
    if (asking) [[unlikely]]
      return carried_out_apart<waits>(on, call, made_role, past);
    if (on.is_lacking()) [[unlikely]] {
      const int error = run_first(on, AnyCall(run), past);
      if (error != MPI_SUCCESS) return error;
      asking.emplace(on);
      continue;
    }
    if constexpr (is_short) {
      return made_role.template carry_out<waits>(on, call, Timed<Run>{run});
    } else {
      const AnyCall any(run);
      return carried_out_apart<waits>(on, call, made_role, Timed<AnyCall>{any});
    }
  }
}

}  // namespace nhalf::trace
