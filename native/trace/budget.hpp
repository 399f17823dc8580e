// The memory budget of all parts of the tracer in a process, whatever the program does. A part that
// gets none keeps less and reports that.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace nhalf::trace {

/// The budget; with code, tables and the allocator's overhead the tracer stays below 64 MiB.
inline constexpr std::int64_t memory_most_bytes = std::int64_t{54} << 20U;
/// Reserve for cells with rounded sizes, and then for cells without partners.
inline constexpr std::int64_t memory_reserve_bytes = std::int64_t{4} << 20U;

inline constinit std::atomic<std::int64_t> memory_remaining_bytes{memory_most_bytes};

/// Takes memory from the budget; false if that would leave less than `reserve_bytes`.
inline bool take_memory(std::size_t bytes, std::int64_t reserve_bytes = memory_reserve_bytes) {
  const auto needed_bytes = static_cast<std::int64_t>(bytes);
  if (memory_remaining_bytes.fetch_sub(needed_bytes, std::memory_order_relaxed) - needed_bytes >=
      reserve_bytes)
    return true;
  memory_remaining_bytes.fetch_add(needed_bytes, std::memory_order_relaxed);
  return false;
}

inline void give_memory(std::size_t bytes) {
  memory_remaining_bytes.fetch_add(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
}

}  // namespace nhalf::trace
