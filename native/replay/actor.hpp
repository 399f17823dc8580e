// A thread of a rank while its calls are replayed.
#pragma once

#include "replay/call_times.hpp"
#include "replay/columns.hpp"

namespace nhalf::replay {
/// The pairs of one step, in columns that are sorted by steps: from `begin` to `end`.
struct Pairs {
  Place begin = 0, end = 0;

  /// Goes on to a step that is not before the last one.
  void find(const Column<const Number>& steps, Place step) {
    begin = end;
    while (begin < steps.size && steps[begin] < step) ++begin;
    end = begin;
    while (end < steps.size && steps[end] == step) ++end;
  }
};

struct Actor {
  enum class Stage : std::uint8_t { before, begun, waits_for_message, waits_for_operation };

  Number number = 0;
  double now_s = 0;
  /// Its step, among those of all actors, and the end of its own.
  Place step = 0, first = 0, end = 0;
  Stage stage = Stage::before;
  /// What it waits for.
  Number thing = 0;
  /// How many messages of its step have arrived for certain.
  Place arrived = 0;
  Pairs awaited, ended;
  /// Processor time of large sends that do not block, spent in its next receive or wait.
  double pending_sends_s = 0;
  /// Until when operations that it began went on while it was elsewhere.
  double hidden_until_s = 0;
  Spent spent{};
  CallTimes calls;

  [[nodiscard]] bool has_more() const { return step < end; }

  /// Moves the clock to `end_s`: `own_s` are spent on messages, the rest waiting.
  void spend(double end_s, double own_s) {
    const double whole_s = end_s - now_s;
    spent.messages_s += std::min(own_s, whole_s);
    spent.waiting_s += std::max(0.0, whole_s - own_s);
    now_s = end_s;
  }
};
}  // namespace nhalf::replay
