// When ranks that are done may report without disturbing those that are not.
#pragma once

#include <algorithm>
#include <limits>

#include "contract/transport.hpp"

namespace nhalf {

/// A rank that is done sends what it saw to rank 0, and this message would share links and adapters
/// with the last messages of what is measured. So it waits for as long as that took all ranks
/// before: the shorter of the last two times, for one that was interrupted says nothing.
class QuietEnd {
 public:
  /// Takes note of how long everything took, from the first start to the last end.
  void took(double span_s) {
    expected_s_ = std::min(span_s, last_s_);
    last_s_ = span_s;
  }

  /// Waits at a rank that began then by its own clock.
  template <Transport T>
  void wait(T& transport, double began_s) const {
    if (expected_s_ > 0) idle_until(transport, began_s + expected_s_);
  }

 private:
  double last_s_ = std::numeric_limits<double>::infinity();
  double expected_s_ = 0;
};

}  // namespace nhalf
