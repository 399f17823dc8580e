// Whether columns fit each other, so that a replay of whatever they say stays within them.
#pragma once

#include "replay/observation.hpp"
#include "replay/pairing.hpp"

namespace nhalf::replay {
namespace checks {
template <class T>
bool lies_within(const Column<T>& column, Place lowest, Place end) {
  // Without an early end several values are compared at once.
  bool is_within = true;
  for (Place at = 0; at < column.size; ++at) is_within &= column[at] >= lowest && column[at] < end;
  return is_within;
}

template <class... Columns>
bool have_size(Place size, const Columns&... columns) {
  return ((columns.size == size) && ...);
}

inline bool is_ascending(const auto& column) {
  return std::ranges::is_sorted(std::span(column.data, static_cast<std::size_t>(column.size)));
}

/// The bound of a step's subject: the number of messages, or of parts.
inline Place subjects(const Script& script, Kind kind) {
  if (kind == Kind::collective) return script.operation.size;
  return kind == Kind::wait ? 0 : script.route.size;
}

inline bool subjects_fit(const Script& script) {
  for (Place step = 0; step < script.form.size; ++step) {
    const auto kind = script.kind[script.form[step]];
    const Place lowest = kind == Kind::collective ? 0 : -1;
    if (script.subject[step] < lowest || script.subject[step] >= subjects(script, kind))
      return false;
  }
  return true;
}

inline const char* steps(const Script& script) {
  const Place actors = script.rank.size, count = script.form.size;
  if (!have_size(actors, script.begin_s, script.after_s, script.before_s, script.measured_s) ||
      script.first.size != actors + 1 || script.first[0] != 0 || script.first[actors] != count ||
      !is_ascending(script.first))
    return "actors";
  if (count > std::numeric_limits<Number>::max()) return "number of steps";
  const Place kinds = static_cast<Place>(Kind::collective) + 1;
  if (script.traits.size != script.kind.size ||
      !std::ranges::all_of(std::span(script.kind.data, static_cast<std::size_t>(script.kind.size)),
                           [=](Kind kind) { return static_cast<Place>(kind) < kinds; }) ||
      !lies_within(script.form, 0, script.kind.size))
    return "forms";
  return script.subject.size == count && subjects_fit(script) ? nullptr : "subjects";
}

inline const char* completions(const Script& script) {
  const Place count = script.form.size;
  if (script.awaiting.size != script.awaited.size || !is_ascending(script.awaiting) ||
      !lies_within(script.awaiting, 0, count) || !lies_within(script.awaited, 0, script.route.size))
    return "awaited messages";
  if (script.ending.size != script.ended.size || !is_ascending(script.ending) ||
      !lies_within(script.ending, 0, count) || !lies_within(script.ended, 0, count))
    return "ended calls";
  return nullptr;
}

inline const char* messages(const Script& script) {
  const Place routes = script.source.size;
  if (script.always_waits.size != script.route.size ||
      !have_size(routes, script.target, script.size_bytes) || !lies_within(script.route, 0, routes))
    return "messages";
  const Place parts = script.operation.size;
  if (!have_size(parts, script.work, script.role, script.is_root) ||
      !lies_within(script.operation, 0, parts))
    return "operations";
  return nullptr;
}

inline const char* costs(const Script& script, const Costs& costs, const Contention& contention) {
  const Place routes = script.source.size, count = script.route.size;
  if (!have_size(routes, costs.way_s, costs.crossing_s, costs.sending_s, costs.receiving_s) ||
      costs.wait_s.size != script.kind.size || !lies_within(script.work, 0, costs.work_s.size) ||
      (!costs.hidden_s.empty() && costs.hidden_s.size != costs.work_s.size))
    return "costs";
  if (contention.before.empty() && contention.operation_s.empty()) return nullptr;
  if (!have_size(count, contention.sending_s, contention.receiving_s, contention.way_s,
                 contention.before) ||
      contention.occupancy_s.size != routes ||
      contention.operation_s.size != script.operation.size ||
      !lies_within(contention.before, -1, count))
    return "contention";
  return nullptr;
}

/// Returns what does not fit in what was observed, or nothing.
inline const char* observed(const Script& script, const Costs& costs, const Observed& observed,
                            const Beyond& beyond) {
  for (const char* reason : {steps(script), messages(script), completions(script)})
    if (reason) return reason;
  if (const char* reason = checks::costs(script, costs, {})) return reason;
  const Place count = script.form.size;
  const bool fits = have_size(script.route.size, beyond.sending_s, beyond.receiving_s, beyond.way_s,
                              beyond.before) &&
                    observed.occupancy_s.size == script.source.size &&
                    observed.begins_s.size == count && observed.ends_s.size == count;
  return fits ? nullptr : "what was observed";
}

/// Returns what does not fit in a timeline and the room for its messages, or nothing.
inline const char* pairing(const Timeline& calls, const Pairing& pairing) {
  const Place count = calls.rank.size;
  const bool fits =
      count <= std::numeric_limits<Number>::max() &&
      have_size(count, calls.thread, calls.partner, calls.communicator, calls.tag, calls.start_s,
                calls.size_bytes, calls.order, pairing.number, pairing.message) &&
      have_size(count / 2, pairing.sent, pairing.received, pairing.route, pairing.source,
                pairing.target, pairing.size_bytes);
  return fits ? nullptr : "calls";
}
}  // namespace checks

/// Returns what does not fit, or nothing.
inline const char* misfit(const Script& script, const Costs& costs, const Contention& contention,
                          const Answer& answer) {
  for (const char* reason : {checks::steps(script), checks::messages(script)})
    if (reason) return reason;
  for (const char* reason : {checks::completions(script), checks::costs(script, costs, contention)})
    if (reason) return reason;
  if (answer.spent.size != script.rank.size || answer.begins_s.size != answer.ends_s.size ||
      (!answer.begins_s.empty() && answer.begins_s.size != script.form.size))
    return "answer";
  return nullptr;
}
}  // namespace nhalf::replay
