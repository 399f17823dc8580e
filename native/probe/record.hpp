// The lines that a probe writes: one JSON object each, marked by the member "nhalf".
#pragma once

#include "contract/capabilities.hpp"
#include "probe/json.hpp"
#include "probe/memory_choice.hpp"
#include "timing/sampler.hpp"

namespace nhalf {
/// Version of the records and of `--describe`; raised when an older reader would misread them.
inline constexpr int schema_version = 1;

/// Writes a line in one piece, so that lines of other writers fall between and not inside.
inline void write_line(std::string line) {
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

/// The line that opens a launch: who takes part, where, on which library and clock.
template <Controlled T>
std::string launch_record(T& transport, const ClockQuality& clock,
                          std::vector<std::string> placement) {
  std::vector<json::Raw> ranks;
  for (auto& rank : placement) ranks.push_back({std::move(rank)});
  json::Object variables;
  json::Object tool;
  if constexpr (requires { transport.library_report(); }) {
    const auto report = transport.library_report();
    variables = json::members(report.variables);
    tool.add("control", report.control).add("performance", report.performance);
  }
  json::Object record;
  record.add("nhalf", "launch")
      .add("schema", schema_version)
      .add("transport", T::info.name)
      .add("ranks", transport.size())
      .add("library", transport.library())
      .add("variables", variables)
      .add("mpi_t", tool)
      .add("clock", json::Object{}
                        .add("name", clock.is_virtual ? "virtual" : T::clock_name)
                        .add("resolution_s", clock.resolution_s)
                        .add("overhead_s", clock.overhead_s))
      .add("placement", ranks);
  if constexpr (requires { T::gpu_support(); }) record.add("gpu_support", T::gpu_support());
  return record.text();
}

/// The line of one measured point; `moved_bytes` move in the time of one sample.
inline std::string point_record(const std::string& id, const PatternInfo& info, int ranks,
                                std::size_t size_bytes, std::uint64_t moved_bytes,
                                const Measurement& measured,
                                const std::vector<std::string>& gpus = {}) {
  json::Object values;
  for (const auto& [name, value] : measured.values) values.add(name, value);
  return json::Object{}
      .add("nhalf", "point")
      .add("id", id)
      .add("pattern", info.name)
      .add("ranks", ranks)
      .add("bytes", size_bytes)
      .add("batch", measured.batch_rounds)
      .add("messages_per_round", info.messages_per_round)
      .add("bytes_per_time", moved_bytes)
      .add("verified", measured.verified)
      .add("gpus", gpus)
      .add("stop", name_of(measured.stop))
      .add("elapsed_s", measured.elapsed_s)
      .add("advice", measured.advice)
      .add("values", values)
      .add("rank_s", measured.rank_s)
      .add("samples_s", measured.samples_s)
      .text();
}

/// The line of a point that could not be measured.
inline std::string error_record(const std::string& id, std::string_view message) {
  return json::Object{}.add("nhalf", "error").add("id", id).add("message", message).text();
}

/// A pattern as `--describe` shows it.
inline json::Object description_of(const PatternInfo& info, bool present,
                                   const std::vector<AlgorithmEntry>& entries,
                                   std::span<const AxisInfo> further_axes = {}) {
  std::vector<json::Object> algorithms;
  for (const auto& [algorithm, runs] : entries)
    algorithms.push_back(json::Object{}
                             .add("name", algorithm.name)
                             .add("what", algorithm.what)
                             .add("source", algorithm.source)
                             .add("cost", algorithm.cost)
                             .add("present", runs));
  std::vector<json::Object> axes;
  std::vector<AxisInfo> described(info.axes.begin(), info.axes.end());
  described.insert(described.end(), further_axes.begin(), further_axes.end());
  for (const auto& axis : described) {
    axes.push_back(json::Object{}
                       .add("name", axis.name)
                       .add("values", axis.values)
                       .add("fallback", axis.fallback)
                       .add("what", axis.what));
    json::Object multiples;
    for (const auto& [value, bytes] : axis.size_multiples) multiples.add(value, bytes);
    if (!axis.size_multiples.empty()) axes.back().add("size_multiples", multiples);
  }
  return json::Object{}
      .add("name", info.name)
      .add("what", info.what)
      .add("present", present)
      .add("needs", info.needs)
      .add("messages_per_round", info.messages_per_round)
      .add("ranks_min", info.ranks_min)
      .add("bytes_factor", info.bytes_factor)
      .add("timing", name_of(info.timing))
      .add("sized", info.sized)
      .add("size_multiple", info.size_multiple)
      .add("option", info.option)
      .add("axes", axes)
      .add("algorithms", algorithms);
}

/// Axes that patterns have by their transport.
template <class T>
std::span<const AxisInfo> further_axes(const PatternInfo& info) {
  if constexpr (requires { T::axes; }) return T::axes;
  return has_memory_axis<T>(info) ? std::span(&memory_axis, 1) : std::span<const AxisInfo>();
}

/// What `--describe` prints: patterns, axes, capabilities and options of this probe.
template <Transport T>
std::string description() {
  std::vector<json::Object> listed;
  for (const auto& [info, make, entries] : patterns<T>())
    listed.push_back(description_of(info, make != nullptr, entries, further_axes<T>(info)));
  std::vector<json::Object> options;
  for (const auto& option : T::info.options)
    options.push_back(json::Object{}
                          .add("name", option.name)
                          .add("default", option.fallback)
                          .add("unit", option.unit)
                          .add("what", option.what));
  const std::vector<json::Object> axes{
      json::Object{}.add("name", "bytes").add("unit", "B").add("what", "size of one message"),
      json::Object{}.add("name", "ranks").add("unit", "").add("what", "processes that take part")};
  return json::Object{}
      .add("schema", schema_version)
      .add("transport", T::info.name)
      .add("what", T::info.what)
      .add("capabilities", capabilities<T>())
      .add("options", options)
      .add("axes", axes)
      .add("patterns", listed)
      .text();
}

/// What was asked for last, kept by rank 0 until the library has ended.
class LastPoint {
 public:
  void keep(std::string id, const PatternInfo& info, int ranks) {
    id_ = std::move(id);
    info_ = info;
    ranks_ = ranks;
    is_kept_ = true;
  }

  /// Writes the answer of a transport T that has ended, where one is due.
  template <class T>
  void answer() const {
    if constexpr (StartUp<T>) {
      if (!is_kept_) return;
      Measurement measured;
      measured.verified = true;
      measured.samples_s = {T::finalised_s()};
      measured.elapsed_s = T::finalised_s();
      measured.stop = Stop::samples;
      write_line(point_record(id_, info_, ranks_, 0, 0, measured));
    }
  }

 private:
  std::string id_;
  PatternInfo info_;
  int ranks_ = 0;
  bool is_kept_ = false;
};
}  // namespace nhalf
