// SPDX-License-Identifier: Apache-2.0
// The memory that all parts of the tracer may take in a process, whatever the program does. Who
// gets none keeps less, and says so.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace nhalf::trace {

/// With the code, its tables and what the allocator adds less than 64 MiB.
inline constexpr std::int64_t memory_most_bytes = std::int64_t{54} << 20U;
/// Kept for cells of which sizes are rounded, then for such without partners.
inline constexpr std::int64_t memory_for_cells_bytes = std::int64_t{4} << 20U;

inline constinit std::atomic<std::int64_t> memory_left_bytes{memory_most_bytes};

/// Whether there is so much left besides what is kept for others.
inline bool take_memory(std::size_t bytes, std::int64_t kept_bytes = memory_for_cells_bytes) {
  const auto wanted = static_cast<std::int64_t>(bytes);
  if (memory_left_bytes.fetch_sub(wanted, std::memory_order_relaxed) - wanted >= kept_bytes)
    return true;
  memory_left_bytes.fetch_add(wanted, std::memory_order_relaxed);
  return false;
}

inline void give_memory(std::size_t bytes) {
  memory_left_bytes.fetch_add(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
}

}  // namespace nhalf::trace
