// The call of MPI that a rank is in. One that an exception or a jump has left is over, which is
// found out when that is asked for.
#pragma once

#include <utility>

#include "fabric/calling_threads.hpp"
#include "fabric/interface.hpp"
#include "preloaded/outermost.hpp"

namespace nhalf::fabric {

class PresentCall {
 public:
  /// Begins a call; false if it is within the present one.
  bool begin(const MpiCall& call) {
    if (outermost_.has(call.caller)) return false;
    suspended_ = outermost_.call();
    outermost_.begin(call.caller);
    waits_ = call.waits;
    return true;
  }
  /// Ends it; one on another stack, during which it began, goes on.
  void end() { outermost_.end(std::exchange(suspended_, {})); }

  [[nodiscard]] bool waits() const { return waits_; }
  /// Whether it ends without waiting, as a test does.
  [[nodiscard]] bool is_nonblocking() const { return outermost_.lasts() && !waits_; }

  /// Whether what calls this function is within the call. Stacks of other threads tell nothing.
  [[nodiscard, gnu::noinline]] bool has_this(const CallingThreads& threads) const {
    if (!threads.is_caller()) return outermost_.lasts();
    return outermost_.leads_to(__builtin_dwarf_cfa());
  }

 private:
  mutable preloaded::OutermostCall outermost_;
  preloaded::Caller suspended_;
  bool waits_ = true;
};

}  // namespace nhalf::fabric
