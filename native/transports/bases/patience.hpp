// SPDX-License-Identifier: Apache-2.0
// How a rank waits for memory that another process will write.
#pragma once

#include <sched.h>

#include <utility>

#include "host/waiting_hint.hpp"
#include "transports/bases/peer_watch.hpp"

namespace nhalf {

/// Looks often while there is hope, then lets others run between two looks, since ranks may
/// outnumber cores; and then looks from time to time whether all processes are still there.
class Patience {
 public:
  Patience() = default;
  /// `crowded`: ranks outnumber cores, so that the one waited for may need this very core.
  Patience(PeerWatch watch, bool crowded)
      : watch_(std::move(watch)), looks_(crowded ? looks_crowded : looks_alone) {}

  /// Returns when `holds()`. Throws PeerEnded where a rank has gone.
  template <class Holds>
  void until(Holds holds) const {
    for (int i = 0; i < looks_; ++i) {
      if (holds()) return;
      pause_between_looks();
    }
    for (unsigned i = 1; !holds(); ++i) {
      sched_yield();
      if (i % yields_per_check == 0) watch_.check();
    }
  }

 private:
  /// Some milliseconds.
  static constexpr int looks_alone = 50'000;
  static constexpr int looks_crowded = 10;
  static constexpr unsigned yields_per_check = 256;

  /// A look takes the line away from a rank that is about to answer in it.
  static void pause_between_looks() {
    pause_briefly();
    pause_briefly();
    pause_briefly();
  }

  mutable PeerWatch watch_;
  int looks_ = looks_alone;
};

}  // namespace nhalf
