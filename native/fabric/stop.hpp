// SPDX-License-Identifier: Apache-2.0
// Ends a run that cannot go on: its reason is written once, and the program that started the run
// ends all ranks.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <string_view>

#include "fabric/region.hpp"
#include "fabric/turns.hpp"

namespace nhalf::fabric {

inline constexpr int stopped_code = 86;

/// Writes why, unless a rank has; nobody may be left to end this process, then it ends itself.
[[noreturn]] inline void stop(Outcome& outcome, std::string_view kind, std::string_view reason) {
  static constexpr std::uint32_t writing = 1;
  static constexpr std::uint32_t written = 2;
  std::uint32_t expected = 0;
  if (__atomic_compare_exchange_n(&outcome.is_set, &expected, writing, false, __ATOMIC_ACQ_REL,
                                  __ATOMIC_ACQUIRE)) {
    std::snprintf(outcome.text.data(), outcome.text.size(), "%.*s:%.*s",
                  static_cast<int>(kind.size()), kind.data(), static_cast<int>(reason.size()),
                  reason.data());
    __atomic_store_n(&outcome.is_set, written, __ATOMIC_RELEASE);
  }
  for (int tenths = 0; tenths < 50; ++tenths) rest(100'000'000);
  _exit(stopped_code);
}

}  // namespace nhalf::fabric
