// The call of MPI that a rank is in. One that an exception or a jump has left is over, which is
// found out when that is asked for.
#pragma once

#include <atomic>

#include "fabric/interface.hpp"

namespace nhalf::fabric {
using network::Picoseconds;

/// The threads of a rank that call MPI: one at a time, whichever it is. Two at once would come in
/// an order that no machine file gives, so that runs would not repeat themselves.
class CallingThreads {
 public:
  /// This thread calls MPI; false if another one is in a call.
  bool enter() {
    note();
    const void* expected = nullptr;
    return caller_.compare_exchange_strong(expected, own(), std::memory_order_acquire) ||
           expected == own();
  }
  /// Whether it is this thread that is in a call, if any is.
  [[nodiscard]] bool is_caller() const { return caller_.load(std::memory_order_relaxed) == own(); }
  /// Its outermost call has ended.
  void exit() { caller_.store(nullptr, std::memory_order_release); }

  /// Whether this thread's polls are those of a call, or of one that is not wrapped.
  [[nodiscard]] bool may_poll() const {
    const void* const caller = caller_.load(std::memory_order_relaxed);
    return caller == own() || (caller == nullptr && (is_one_ || number_ == 0));
  }

  /// This thread's time is virtual from now on.
  void note() {
    if (!is_one_) ++number_;
    is_one_ = true;
  }
  /// Whether no other thread has ever called MPI.
  [[nodiscard]] bool is_alone() const { return is_one_ && number_ == 1; }
  [[nodiscard]] static bool is_one() { return is_one_; }
  /// The thread of a new process is none.
  static void forget() { is_one_ = false; }

  /// Whether a thread that calls nothing but the clock may read it once more for nothing: a loop on
  /// it has to end.
  [[nodiscard]] static bool may_read(Picoseconds now) {
    static constexpr int reads_max = 1000;
    if (now != read_at_) reads_ = 0;
    read_at_ = now;
    return ++reads_ <= reads_max;
  }

 private:
  static const void* own() { return &is_one_; }

  std::atomic<const void*> caller_{nullptr};
  std::atomic<int> number_{0};
  static inline constinit thread_local bool is_one_ = false;
  static inline constinit thread_local int reads_ = 0;
  static inline constinit thread_local Picoseconds read_at_ = 0;
};

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
