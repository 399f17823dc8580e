// Calls by time: a fixed number of spans of time, whose length doubles when time runs past the
// last. They are joined in a second set, which counts once it is complete, so a kill loses nothing.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "trace/layout.hpp"

namespace nhalf::trace {

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
