// Measures size and associativity of a physically indexed cache from conflicts alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "contract/pattern.hpp"
#include "node/conflict_search.hpp"
#include "node/lap_time.hpp"
#include "node/region.hpp"
#include "timing/clock.hpp"

namespace nhalf {

inline constexpr AxisInfo conflict_axes[] = {
    {"miss", "120", "120", "cycles that a miss takes more than a hit, or less"},
    {"line", "64", "64", "bytes of a cache line"},
    {"huge", "no", "no", "whether the memory asks for huge pages: no or yes"}};

inline constexpr PatternInfo node_conflicts{
    .name = "node-conflicts",
    .what = "how many pages a cache holds a line of, and how many of them share a set",
    .ranks_min = 1,
    .axes = conflict_axes};

/// Searches in `bytes` of memory, which is several times the cache size. A round is a load.
class NodeConflicts : public Pattern {
 public:
  NodeConflicts(const Case& point, Region& region, SteadyClock& clock, double overhead_s,
                CoreWitness<SteadyClock>& core)
      : clock_(clock),
        lap_(clock, overhead_s, core, region, point.size_bytes / LapTime::page_size_bytes,
             point.axes.number("line", std::size_t{64})),
        search_(
            [this](std::span<const std::uint32_t> pages, ConflictSearch::Candidate candidate) {
              return lap_.extra_cycles(pages, candidate.page, candidate.shift_bytes);
            },
            lap_.load_cycles({}), point.axes.number("miss", 120.0)) {}

  /// Times loads that hit; the results are in `values`.
  void run(std::uint64_t rounds) override { lap_.follow_on(rounds); }

  bool verify() override {
    const double start_s = clock_.now_s();
    search_.fill(static_cast<std::uint32_t>(lap_.pages()));
    const auto& overflowing = search_.overflowing();
    std::size_t clear = 0;
    for (std::size_t i = 0; i < sets_max && i < overflowing.size() && clear < clear_enough; ++i) {
      if (clock_.now_s() - start_s > search_most_s) break;
      const auto page = overflowing[i * overflowing.size() / sets_max];
      const auto ways = search_.ways_of(page);
      clear += ways > 0 ? 1 : 0;
      values_.push_back({"ways_" + std::to_string(i), static_cast<double>(ways)});
      values_.push_back({"line_" + std::to_string(i) + "_bytes",
                         static_cast<double>(search_.line_bytes_of(page))});
    }
    return true;
  }

  std::vector<Value> values() override {
    std::vector<Value> values{
        {"pages", static_cast<double>(search_.fitting().size())},
        {"overflowing_pages", static_cast<double>(search_.overflowing().size())},
        {"page_bytes", static_cast<double>(LapTime::page_size_bytes)}};
    values.insert(values.end(), values_.begin(), values_.end());
    return values;
  }

 private:
  /// Sets are counted until `clear_enough` of them gave a clear answer; a busy core needs more.
  static constexpr std::size_t sets_max = 16;
  static constexpr std::size_t clear_enough = 5;
  /// The search ends after this time on a busy machine.
  static constexpr double search_most_s = 20;

  SteadyClock& clock_;
  LapTime lap_;
  ConflictSearch search_;
  std::vector<Value> values_;
};

}  // namespace nhalf
