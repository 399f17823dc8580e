// SPDX-License-Identifier: Apache-2.0
// The file of one thread: a head, spans of time twice, then cells. The reader knows the same form
// (src/nhalf/measure/traced/layout.py); a change of it is another version.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "trace/kinds.hpp"
#include "trace/ticks.hpp"

namespace nhalf::trace {

inline constexpr std::uint32_t format_version = 2;
inline constexpr std::size_t spans = 256;
inline constexpr std::uint64_t cells_most = 400'000;

/// What happened in a span of time, of one kind.
struct Span {
  std::uint64_t count;
  std::uint64_t bytes;
  Ticks time;
};

/// All kinds of all spans; the ones of a kind follow each other.
using Spans = std::array<std::array<Span, kinds>, spans>;

/// The calls of one subject.
struct alignas(64) Cell {
  /// Call, communicator and partner, then size: what a cell is found by.
  std::uint64_t which;
  std::uint64_t size_bytes;
  std::uint64_t count;
  std::uint64_t bytes;
  Ticks time;
  Ticks waiting;
  Ticks least;
  Ticks most;
};

enum Lost : std::uint32_t {
  sizes_rounded = 1U << 0U,
  partners_joined = 1U << 1U,
  timeline_cut = 1U << 2U,
  disk_full = 1U << 3U,
};

struct alignas(4096) Head {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t thread;
  Moment begin;
  Moment last;
  std::uint64_t cells;
  std::uint64_t timeline_records;
  /// What did not fit (Lost).
  std::uint32_t lost;
  std::uint32_t finished;
  /// Which of both sets of spans counts, and how many ticks one has: 2 to the power of this.
  std::uint32_t spans_active;
  std::array<std::uint32_t, 2> spans_shift;
  std::uint32_t unused;
  Ticks spans_begin;
  /// When `begin` and `last` were, on a clock that nobody sets. Since version 2.
  std::uint64_t begin_steady_ns;
  std::uint64_t last_steady_ns;
};

struct Layout {
  Head head;
  std::array<Spans, 2> time;
  /// As many as there is room for.
  alignas(4096) Cell cells[cells_most];
};

}  // namespace nhalf::trace
