// Tells calls of MPI by the program from calls within a call, which the library or what it calls
// back makes. A call does not always end: an exception or a longjmp may leave it, and a program
// with several stacks, as fibers have, may go on with another one meanwhile. So a call is within
// another one only if its stack leads to it.
#pragma once

#include <unwind.h>

#include "contract/vocabulary.hpp"

namespace nhalf::preloaded {

/// Where a call returns to, and the end of the stack frame in which that is recorded.
struct Caller {
  const void* address = nullptr;
  const void* frame = nullptr;
};

/// Where the program calls the function that this is in.
#define NHALF_CALLER                                   \
  nhalf::preloaded::Caller {                           \
    __builtin_return_address(0), __builtin_dwarf_cfa() \
  }

/// What a call is to the place from where that is asked.
enum class Standing {
  /// The stack leads to it.
  within,
  /// Its frame is no more.
  left,
  /// Its frame is not on this stack: it may go on later.
  elsewhere
};

/// Follows the stack from here to the frame of a call.
class WayToCall {
 public:
  [[gnu::noinline]] static Standing of(const Caller& call) {
    WayToCall way(call, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
    _Unwind_Backtrace(
        [](_Unwind_Context* context, void* self) {
          return static_cast<WayToCall*>(self)->pass(
              static_cast<std::uintptr_t>(_Unwind_GetIP(context)),
              static_cast<std::uintptr_t>(_Unwind_GetCFA(context)));
        },
        &way);
    return way.has_ended_ ? way.standing_ : way.without_end();
  }

 private:
  /// What any call of a library takes of the stack below its caller.
  static constexpr std::uintptr_t taken_below_bytes = 4096;
  /// Longer steps lead to another stack, as from one of signals.
  static constexpr std::uintptr_t frame_bytes_most = std::uintptr_t{1} << 20U;
  static constexpr std::uintptr_t without_tables_bytes_most = 16384;
  static constexpr int frames_most = 1 << 20;

  WayToCall(const Caller& call, std::uintptr_t own_frame)
      : address_(reinterpret_cast<std::uintptr_t>(call.address)),
        frame_(reinterpret_cast<std::uintptr_t>(call.frame)),
        reached_(own_frame - taken_below_bytes) {}

  _Unwind_Reason_Code pass(std::uintptr_t address, std::uintptr_t end) {
    if (address == address_ && end == frame_) return ends(Standing::within);
    const bool is_same_stack = end >= reached_ && end - reached_ <= frame_bytes_most;
    if (is_same_stack && reached_ <= frame_ && frame_ <= end) return ends(Standing::left);
    reached_ = end;
    return ++frames_ < frames_most ? _URC_NO_REASON : _URC_END_OF_STACK;
  }

  _Unwind_Reason_Code ends(Standing standing) {
    standing_ = standing;
    has_ended_ = true;
    return _URC_END_OF_STACK;
  }

  /// The way ends where a stack begins, or at code without unwind tables, which is never large.
  [[nodiscard]] Standing without_end() const {
    const bool is_near = frame_ >= reached_ && frame_ - reached_ <= without_tables_bytes_most;
    return is_near ? Standing::within : Standing::elsewhere;
  }

  std::uintptr_t address_;
  std::uintptr_t frame_;
  std::uintptr_t reached_;
  int frames_ = 0;
  bool has_ended_ = false;
  Standing standing_ = Standing::elsewhere;
};

/// The outermost call of MPI of a thread.
class OutermostCall {
 public:
  [[nodiscard]] bool lasts() const { return call_.frame != nullptr; }

  /// Begins a call, of which `has` was asked if another one lasts.
  [[gnu::always_inline]] void begin(Caller call) { call_ = call; }
  /// Ends it; `suspended` goes on, if there is one.
  void end(const Caller& suspended = {}) {
    call_ = suspended;
    places_ = {};
  }

  [[nodiscard]] const Caller& call() const { return call_; }

  /// Whether a call from `inner`, which goes on here, is within this one, which is forgotten if it
  /// has been left. Takes microseconds.
  [[gnu::noinline]] bool has(const Caller& inner) {
    if (!lasts()) return false;
    // No call is within another one from the same place of the stack.
    const auto standing = inner.frame == call_.frame ? Standing::left : WayToCall::of(call_);
    if (standing == Standing::within) return doubts_ = 0, true;
    if (standing == Standing::left || ++doubts_ > doubts_most) end(), doubts_ = 0;
    return false;
  }

  /// Whether this one leads to a function whose frame ends at `frame`. A library that looks often
  /// from the same place pays once in a call.
  bool leads_to(const void* frame) {
    if (!lasts()) return false;
    for (const void* place : places_)
      if (place == frame) return true;
    if (!has({})) return false;
    places_[next_place_++ % places_.size()] = frame;
    return true;
  }

 private:
  /// How many calls in a row may be on another stack before this one counts as left.
  static constexpr int doubts_most = 256;

  Caller call_;
  int doubts_ = 0;
  std::size_t next_place_ = 0;
  std::array<const void*, 4> places_{};
};

}  // namespace nhalf::preloaded
