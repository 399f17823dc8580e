// Waits for another rank of the node.
#pragma once

#include <sched.h>

#include "host/waiting_hint.hpp"

namespace nhalf::coll {

/// Thrown after the library reported an error and called the error handler.
struct Failed {
  int error;
};

/// Polls without pauses, then with pauses, then yields the core between two polls.
///
/// The peer may be blocked in a message to this rank, which only the library can receive, so
/// `progress` is called from time to time, but not within the usual length of a wait. With
/// oversubscription a wait ends only when another rank runs, so polling is short. An error of the
/// library in `progress` (a peer has ended, the communicator was revoked) is thrown as Failed.
struct Waiting {
  int (*progress)(void* context) = [](void*) { return 0; };
  void* context = nullptr;
  int polls = 400;
  int pauses = 800;

  void yield_soon() {
    polls = 8;
    pauses = 0;
  }

  template <class Condition>
  void until(Condition holds) const {
    for (int i = 0; i < polls; ++i)
      if (holds()) return;
    for (int i = 1; i <= pauses; ++i) {
      if (holds()) return;
      pause_briefly();
      if (i % pauses_per_progress == 0) make_progress();
    }
    for (unsigned i = 1; !holds(); ++i) {
      sched_yield();
      if (i % yields_per_progress == 0) make_progress();
    }
  }

 private:
  void make_progress() const {
    if (const int error = progress(context); error != 0) throw Failed{error};
  }

  static constexpr int pauses_per_progress = 100;
  static constexpr unsigned yields_per_progress = 8;
};

}  // namespace nhalf::coll
