// SPDX-License-Identifier: Apache-2.0
// The calls by which a program ends at once, past the functions that `exit` calls: what a launcher
// passes on then depends on which of the ranks it looks at first, so the network notes the code.
#pragma once

#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fabric/rank.hpp"
#include "fabric/waits/next_call.hpp"

namespace nhalf::fabric {

/// A child that the program has made is no rank and ends as it asks.
[[noreturn]] inline void end_now(int code) {
  if (Rank::here().is_running()) Rank::here().note_exit(code);
  for (;;) syscall(SYS_exit_group, code);
}

}  // namespace nhalf::fabric

NHALF_EXPORTED void _exit(int code) {
  nhalf::fabric::end_now(code);
}

NHALF_EXPORTED void _Exit(int code) noexcept {
  nhalf::fabric::end_now(code);
}

/// Its functions may take their time, and one of them may end the process.
NHALF_EXPORTED void quick_exit(int code) noexcept {
  if (nhalf::fabric::Rank::here().is_running()) nhalf::fabric::Rank::here().note_exit(code);
  NHALF_NEXT(quick_exit)(code);
  nhalf::fabric::end_now(code);
}
