// The calls that end a program without the functions of on_exit, by which the network notes the
// exit code of a rank: which rank's code a launcher passes on depends on whose end it sees first.
#pragma once

#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fabric/rank.hpp"
#include "fabric/waits/next_call.hpp"

NHALF_EXPORTED void _exit(int code) {
  nhalf::fabric::Rank::here().note_exit(code);
  for (;;) syscall(SYS_exit_group, code);
}

NHALF_EXPORTED void _Exit(int code) noexcept {
  _exit(code);
}

NHALF_EXPORTED void quick_exit(int code) noexcept {
  nhalf::fabric::Rank::here().note_exit(code);
  NHALF_NEXT(quick_exit)(code);
  _exit(code);
}
