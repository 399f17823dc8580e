// Frames of the stack, by the tables that compilers write for exceptions.
#pragma once

#include <unwind.h>

#include "contract/vocabulary.hpp"

namespace nhalf::trace {
/// The frame of a function, as it is at one address of it: its size from the end of the frame of
/// what it called, and where before its own end it keeps the address that it returns to. Both are
/// the same at each call unless the function has arrays of varying length.
struct Frame {
  std::uint32_t size_bytes = 0;
  std::uint32_t kept_before_bytes = 0;

  [[nodiscard]] const void* end(const void* called_end) const {
    return static_cast<const std::byte*>(called_end) + size_bytes;
  }
  [[nodiscard]] const void* returns_to(const void* called_end) const {
    const void* address = nullptr;
    const auto* kept = static_cast<const std::byte*>(end(called_end)) - kept_before_bytes;
    std::memcpy(&address, kept, sizeof address);
    return address;
  }
};

/// Unwinds this thread's stack to find the frame of the function that an address belongs to, which
/// called a function whose frame ends at `called_end`; one of size 0 if that fails.
[[gnu::noinline]] inline Frame frame_of(const void* address, const void* called_end) {
  struct Walk {
    std::uintptr_t address;
    std::uintptr_t called_end;
    Frame frame{};
    bool is_reached = false;
    int remaining = 32;
  } sought{reinterpret_cast<std::uintptr_t>(address), reinterpret_cast<std::uintptr_t>(called_end)};
  _Unwind_Backtrace(
      [](_Unwind_Context* context, void* argument) {
        auto& walk = *static_cast<Walk*>(argument);
        const auto ip = static_cast<std::uintptr_t>(_Unwind_GetIP(context));
        const auto end = static_cast<std::uintptr_t>(_Unwind_GetCFA(context));
        if (walk.is_reached) {
          // The frame is complete: search it for the address that it returns to.
          for (auto kept = end - sizeof end; kept >= walk.called_end; kept -= sizeof end) {
            std::uintptr_t word = 0;
            std::memcpy(&word, reinterpret_cast<const void*>(kept), sizeof word);
            if (word != ip) continue;
            walk.frame = {static_cast<std::uint32_t>(end - walk.called_end),
                          static_cast<std::uint32_t>(end - kept)};
            break;
          }
          return _URC_END_OF_STACK;
        }
        walk.is_reached = ip == walk.address && end == walk.called_end;
        return --walk.remaining > 0 ? _URC_NO_REASON : _URC_END_OF_STACK;
      },
      &sought);
  return sought.frame;
}
}  // namespace nhalf::trace
