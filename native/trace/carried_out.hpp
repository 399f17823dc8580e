// nhalf-needs: MPI
// Carries out a call by its role. A call with a handle never seen before runs first: the handle may
// be wrong, and only the library is to report that.
#pragma once

#include <array>
#include <cstddef>
#include <new>
#include <optional>

#include "calls/names.hpp"
#include "preloaded/mpi.hpp"
#include "trace/recorder.hpp"
#include "trace/ticks.hpp"

namespace nhalf::trace {

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

}  // namespace nhalf::trace
