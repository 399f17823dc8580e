// SPDX-License-Identifier: Apache-2.0
// How a rank waits for another one of its node.
#pragma once

#include <sched.h>

#include "host/waiting_hint.hpp"

namespace nhalf::coll {

/// The library reported an error, and has told the error handler of it.
struct Failed {
  int error;
};

/// Looks at once, then with pauses, then lets others run between two looks.
///
/// The peer may be held up in a message to this rank, which only the library can take: `progress`
/// is called now and then, and never while the wait is as short as it is among equals. Where ranks
/// outnumber cores a wait ends only when another rank runs, so looking is short. An error of the
/// library's there (a peer has gone, the communicator was revoked) ends the wait as Failed.
struct Waiting {
  int (*progress)(void* context) = [](void*) { return 0; };
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
      if (i % pauses_per_progress == 0) go_on();
    }
    for (unsigned i = 1; !holds(); ++i) {
      sched_yield();
      if (i % yields_per_progress == 0) go_on();
    }
  }

 private:
  void go_on() const {
    if (const int error = progress(context); error != 0) throw Failed{error};
  }

  static constexpr int pauses_per_progress = 100;
  static constexpr unsigned yields_per_progress = 8;
};

}  // namespace nhalf::coll
