// Ends a run that cannot go on: its reason is written once for the program that started the run,
// and all ranks that wait for their turn end too, in the way of which their launcher says nothing.
#pragma once

#include <linux/futex.h>

#include <climits>
#include <cstdio>

#include "fabric/region.hpp"
#include "fabric/times.hpp"

namespace nhalf::fabric {
/// Lets a rank run that waits for its turn.
inline void wake(Slot& slot) {
  __atomic_store_n(&slot.turn, 1, __ATOMIC_RELEASE);
  syscall(SYS_futex, &slot.turn, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

/// Ends this process. Hydra takes an end without an error as one; Open MPI's launcher does not, but
/// is silent when it is ended itself, which the program that started the run does meanwhile.
[[noreturn]] inline void end_quietly() {
  if (std::getenv("OMPI_COMM_WORLD_RANK") != nullptr)
    for (int tenths = 0; tenths < 100; ++tenths) rest(100'000'000);
  // Not by `_exit`, which notes how a program ends (launcher_calls.hpp).
  for (;;) syscall(SYS_exit_group, 0);
}

/// Ends this process if a rank has stopped the run.
inline void end_if_stopped(const Region& region) {
  if (__atomic_load_n(&region.outcome.is_set, __ATOMIC_ACQUIRE) != 0) end_quietly();
}

[[noreturn]] inline void stop(Region& region, std::string_view kind, std::string_view reason) {
  static constexpr std::uint32_t writing = 1;
  static constexpr std::uint32_t written = 2;
  // What the program has just said passes its launcher first, which drops the rest at the end.
  if (kind == "abort") rest(200'000'000);
  auto& outcome = region.outcome;
  std::uint32_t expected = 0;
  if (__atomic_compare_exchange_n(&outcome.is_set, &expected, writing, false, __ATOMIC_ACQ_REL,
                                  __ATOMIC_ACQUIRE)) {
    std::snprintf(outcome.text.data(), outcome.text.size(), "%.*s:%.*s",
                  static_cast<int>(kind.size()), kind.data(), static_cast<int>(reason.size()),
                  reason.data());
    __atomic_store_n(&outcome.is_set, written, __ATOMIC_RELEASE);
    for (auto& slot : region.slots) wake(slot);
  }
  end_quietly();
}
}  // namespace nhalf::fabric
