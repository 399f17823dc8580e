// The file of one thread: a head, two sets of spans of time, call sites, then cells. The reader has
// the same layout (src/nhalf/measure/traced/layout.py); every change needs a new version.
#pragma once

#include <atomic>

#include "trace/ticks.hpp"

namespace nhalf::trace {
/// Kinds of calls; then the calls of a site together, and time that a thread was off its processor.
enum class Kind : std::uint8_t {
  sent,
  received,
  one_sided,
  collective,
  waiting,
  at_site,
  off_processor
};
inline constexpr std::size_t kinds = 5;

/// Partners that are not ranks.
inline constexpr std::int32_t no_process = -1;
inline constexpr std::int32_t no_partner = -2;
inline constexpr std::int32_t elsewhere = -3;

/// Number of all communicators beyond the limit.
inline constexpr std::uint32_t communicators_max = 0xffff;

/// The key by which calls are counted, and the number of the call site, which is counted apart.
struct Subject {
  std::uint16_t call = 0;
  Kind kind = Kind::waiting;
  std::uint32_t communicator = 0;
  std::int32_t partner = no_partner;
  std::uint64_t size_bytes = 0;
  std::uint16_t site = 0;
};

inline constexpr std::uint32_t format_version = 6;
inline constexpr std::array<char, 8> magic{'N', 'H', 'A', 'L', 'F', 'T', 'R', 'C'};
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
  /// Collective calls that have ended, and the time outside MPI until the last of them began: what
  /// tells, while the program runs, who comes late. Since version 5.
  std::uint64_t collectives;
  Ticks computed;
  /// What routed collectives have saved, less what trials have lost. Since version 6.
  std::int64_t saved_ns;

  /// Tells who reads the file that the thread came to another collective after `computed_now`,
  /// without a call of the system: two stores into memory that is the file's.
  [[gnu::always_inline]] void publish_collective(Ticks computed_now) {
    std::atomic_ref(computed).store(computed_now, std::memory_order_relaxed);
    std::atomic_ref(collectives).store(collectives + 1, std::memory_order_release);
  }
};

struct Layout {
  Head head;
  std::array<Spans, 2> time;
  /// The module of each call site, shifted by 48 bits, and its address there. Since version 3.
  alignas(4096) std::array<std::uint64_t, sites_most> sites;
  /// The file holds `head.cells` of these.
  alignas(4096) Cell cells[cells_most];
};

/// Calls by time: a fixed number of spans of time, whose length doubles when time runs past the
/// last. They are joined in a second set, which counts once it is complete, so a kill loses
/// nothing.
class SpanTable {
 public:
  SpanTable(Layout& layout, Ticks begin, std::uint32_t shift) : layout_(layout) {
    layout.head.spans_begin = begin;
    layout.head.spans_shift = {shift, shift};
    take(0);
  }

  /// Adds a call; returns whether it is in another span than the last one.
  [[gnu::always_inline]] bool add(Kind kind, std::uint64_t bytes, Ticks at, Ticks time,
                                  Ticks waiting) {
    auto number = (at - begin_) >> shift_;
    if (number >= spans) [[unlikely]]
      number = after_joining(at);
    auto& span = (*active_)[number];
    auto& own = span[static_cast<std::size_t>(kind)];
    own.count += 1;
    own.bytes += bytes;
    auto& waits = span[static_cast<std::size_t>(Kind::waiting)];
    if (kind != Kind::waiting) own.time += time;
    waits.time += waiting;
    const bool is_new = number != last_;
    last_ = number;
    return is_new;
  }

 private:
  void take(std::uint32_t set) {
    layout_.head.spans_active = set;
    active_ = &layout_.time[set];
    begin_ = layout_.head.spans_begin;
    shift_ = layout_.head.spans_shift[set];
  }

  [[gnu::noinline]] std::uint64_t after_joining(Ticks at) {
    // A clock that went back, as on a defective machine only.
    if (at < begin_) return 0;
    while (((at - begin_) >> shift_) >= spans) join();
    return (at - begin_) >> shift_;
  }

  void join() {
    const std::uint32_t next = 1 - layout_.head.spans_active;
    const Spans& from = *active_;
    Spans& into = layout_.time[next];
    for (std::size_t number = 0; number < spans; ++number)
      for (std::size_t kind = 0; kind < kinds; ++kind)
        into[number][kind] =
            number < spans / 2 ? sum(from[2 * number][kind], from[2 * number + 1][kind]) : Span{};
    layout_.head.spans_shift[next] = shift_ + 1;
    std::atomic_signal_fence(std::memory_order_release);
    take(next);
  }

  static Span sum(const Span& first, const Span& second) {
    return {first.count + second.count, first.bytes + second.bytes, first.time + second.time};
  }

  Layout& layout_;
  Spans* active_ = nullptr;
  Ticks begin_ = 0;
  std::uint32_t shift_ = 0;
  std::uint64_t last_ = ~std::uint64_t{0};
};
}  // namespace nhalf::trace
