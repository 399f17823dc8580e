// The time of a thread that its calls have taken: a timed call that represents others may claim no
// more than nobody else has, so that all calls together never take longer than the thread has run.
#pragma once

#include <algorithm>
#include <cstdint>

#include "trace/ticks.hpp"

namespace nhalf::trace {

class ClaimedTime {
 public:
  /// `short_call` is the longest mean time of calls that others represent.
  ClaimedTime(Ticks begin, Ticks short_call) : until_(begin), kept_(kept_calls * short_call) {}

  /// Returns the time that a call of `time` until `end` takes with those that it represents, of
  /// which there are `weight` with itself. All have been since the last one that represented any,
  /// between calls that were timed on their own.
  [[gnu::always_inline]] Ticks claim(Ticks time, Ticks end, std::uint64_t weight) {
    if (weight <= 1) [[likely]] {
      until_ += time;
      return time;
    }
    return shared(time, end, weight);
  }

 private:
  /// Some represent fewer calls than there were, and others more: what is left is kept for them.
  static constexpr Ticks kept_calls = 512;

  [[gnu::noinline]] Ticks shared(Ticks time, Ticks end, std::uint64_t weight) {
    const Ticks free = end > until_ ? end - until_ : 0;
    const Ticks all = std::min(time * weight, free);
    until_ = std::max(until_ + all, end - std::min(end, kept_));
    return all;
  }

  /// Calls have taken as much as if they had taken all of the time until then.
  Ticks until_;
  Ticks kept_;
};

}  // namespace nhalf::trace
