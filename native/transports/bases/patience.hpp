// Waits for memory that another process will write.
#pragma once

#include <sched.h>

#include <utility>

#include "host/waiting_hint.hpp"
#include "transports/bases/peer_watch.hpp"

namespace nhalf {

/// Polls without yielding at first, then yields the core between two polls, since ranks may
/// outnumber cores; and then checks from time to time whether all processes still exist.
class Patience {
 public:
  Patience() = default;
  /// `oversubscribed`: ranks outnumber cores, so that the awaited rank may need this very core.
  Patience(PeerWatch watch, bool oversubscribed)
      : watch_(std::move(watch)), polls_(oversubscribed ? polls_oversubscribed : polls_alone) {}

  /// Returns when `holds()`. Throws PeerEnded where a rank has gone.
  template <class Holds>
  void until(Holds holds) const {
    for (int i = 0; i < polls_; ++i) {
      if (holds()) return;
      pause_between_polls();
    }
    for (unsigned i = 1; !holds(); ++i) {
      sched_yield();
      if (i % yields_per_check == 0) watch_.check();
    }
  }

 private:
  /// Number of polls in some milliseconds.
  static constexpr int polls_alone = 50'000;
  static constexpr int polls_oversubscribed = 10;
  static constexpr unsigned yields_per_check = 256;

  /// A poll takes the line away from a rank that is about to write it.
  static void pause_between_polls() {
    pause_briefly();
    pause_briefly();
    pause_briefly();
  }

  mutable PeerWatch watch_;
  int polls_ = polls_alone;
};

}  // namespace nhalf
