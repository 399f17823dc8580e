// A call site: a place in the program that calls MPI.
#pragma once

#include <atomic>
#include <cstdint>

#include "preloaded/outermost.hpp"
#include "trace/frames.hpp"
#include "trace/layout.hpp"
#include "trace/modules.hpp"

namespace nhalf::trace {

using preloaded::Caller;

/// A call site, with the cell that its last call was counted in.
struct Site {
  const void* address = nullptr;
  Cell* cell = nullptr;
  std::uint64_t size_bytes = 0;
  std::uint16_t call = 0;
  /// From 1 on; 0 if the place is not known.
  std::uint16_t number = 0;
  /// The frame of a function that calls for the program; of size 0 if the program itself calls
  /// here.
  Frame frame;
};

/// Returns the number that a place has in the file of its thread, where it is added; 0 if its file
/// has no number, or if there is no more room.
inline std::uint16_t added_number(Layout& layout, const Place& place) {
  if (layout.head.sites == sites_most) layout.head.lost |= sites_joined;
  if (layout.head.sites >= sites_most || place.module == 0) return 0;
  layout.sites[layout.head.sites] = static_cast<std::uint64_t>(place.module) << 48U | place.offset;
  // A reader after a kill sees complete sites only.
  std::atomic_signal_fence(std::memory_order_release);
  return static_cast<std::uint16_t>(++layout.head.sites);
}

/// Returns the number of a place that may have one already.
inline std::uint16_t number_of(Layout& layout, const Place& place) {
  const auto word = static_cast<std::uint64_t>(place.module) << 48U | place.offset;
  for (std::uint32_t at = 0; at < layout.head.sites; ++at)
    if (layout.sites[at] == word) return static_cast<std::uint16_t>(at + 1);
  return added_number(layout, place);
}

}  // namespace nhalf::trace
