// SPDX-License-Identifier: Apache-2.0
// How a rank waits for another one of its node.
#pragma once

#include <sched.h>

#include "host/waiting_hint.hpp"

namespace nhalf::coll {

/// Looks at once, then with pauses, then lets others run between two looks.
///
/// The peer may be held up in a message to this rank, which only the library can take: `progress`
/// is called now and then, and never while the wait is as short as it is among equals. Where ranks
/// outnumber cores a wait ends only when another rank runs, so looking is short.
struct Waiting {
  void (*progress)(void* context) = [](void*) {};
  void* context = nullptr;
  int looks = 400;
  int pauses = 800;

  void crowd() {
    looks = 8;
    pauses = 0;
  }

  template <class Condition>
  void until(Condition holds) const {
    for (int i = 0; i < looks; ++i)
      if (holds()) return;
    for (int i = 1; i <= pauses; ++i) {
      if (holds()) return;
      pause_briefly();
      if (i % pauses_per_progress == 0) progress(context);
    }
    for (unsigned i = 1; !holds(); ++i) {
      sched_yield();
      if (i % yields_per_progress == 0) progress(context);
    }
  }

 private:
  static constexpr int pauses_per_progress = 100;
  static constexpr unsigned yields_per_progress = 8;
};

}  // namespace nhalf::coll
