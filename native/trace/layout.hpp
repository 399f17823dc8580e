// The file of one thread: a head, two sets of spans of time, call sites, then cells. The reader has
// the same layout (src/nhalf/measure/traced/layout.py); every change needs a new version.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "trace/kinds.hpp"
#include "trace/ticks.hpp"

namespace nhalf::trace {

inline constexpr std::uint32_t format_version = 4;
inline constexpr std::size_t spans = 256;
inline constexpr std::uint64_t cells_most = 400'000;
inline constexpr std::size_t sites_most = 1024;

/// The calls of one kind in a span of time.
struct Span {
  std::uint64_t count;
  std::uint64_t bytes;
  Ticks time;
};

/// All spans of time, each with all kinds.
using Spans = std::array<std::array<Span, kinds>, spans>;

/// The calls of one subject.
struct alignas(64) Cell {
  /// Key of the cell: call, kind, communicator and partner, packed, and the size.
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
  sites_joined = 1U << 4U,
};

struct alignas(4096) Head {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t thread;
  Moment begin;
  Moment last;
  std::uint64_t cells;
  std::uint64_t timeline_records;
  /// Flags of what did not fit (Lost).
  std::uint32_t lost;
  std::uint32_t finished;
  /// The set of spans that counts; a span of a set has 2 to the power of `spans_shift` ticks.
  std::uint32_t spans_active;
  std::array<std::uint32_t, 2> spans_shift;
  /// Number of call sites; since version 3.
  std::uint32_t sites;
  Ticks spans_begin;
  /// `begin` and `last` on the raw monotonic clock. Since version 2.
  std::uint64_t begin_steady_ns;
  std::uint64_t last_steady_ns;
  /// Processor time of the thread, time off its processor between calls and in calls, and of that
  /// the time in the processor's queue. Since version 3.
  std::uint64_t used_ns;
  std::array<std::uint64_t, 2> off_ns;
  std::array<std::uint64_t, 2> queued_ns;
};

struct Layout {
  Head head;
  std::array<Spans, 2> time;
  /// The module of each call site, shifted by 48 bits, and its address there. Since version 3.
  alignas(4096) std::array<std::uint64_t, sites_most> sites;
  /// The file holds `head.cells` of these.
  alignas(4096) Cell cells[cells_most];
};

}  // namespace nhalf::trace
