// SPDX-License-Identifier: Apache-2.0
// The size and the ways of a cache that is indexed by physical addresses, from conflicts alone.
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

/// `bytes` is the memory whose pages are tried: some times what the cache holds. A round is a load.
class NodeConflicts : public Pattern {
 public:
  NodeConflicts(const Case& point, Region& region, SteadyClock& clock, double overhead_s,
                CoreWitness<SteadyClock>& core)
      : clock_(clock),
        lap_(clock, overhead_s, core, region, point.size_bytes / LapTime::page_size_bytes,
             point.axes.number("line", std::size_t{64})),
        search_(
            [this](std::span<const std::uint32_t> pages, ConflictSearch::More more) {
              return lap_.extra_cycles(pages, more.page, more.shift_bytes);
            },
            lap_.load_cycles({}), point.axes.number("miss", 120.0)) {}

  /// Samples are of loads that hit; what counts are the values.
  void run(std::uint64_t rounds) override { lap_.follow_on(rounds); }

  bool verify() override {
    const double began_s = clock_.now_s();
    search_.fill(static_cast<std::uint32_t>(lap_.pages()));
    const auto& over = search_.overflowing();
    std::size_t told = 0;
    for (std::size_t i = 0; i < looks && i < over.size() && told < enough; ++i) {
      if (clock_.now_s() - began_s > most_s) break;
      const auto page = over[i * over.size() / looks];
      const auto ways = search_.ways_of(page);
      told += ways > 0 ? 1 : 0;
      found_.push_back({"ways_" + std::to_string(i), static_cast<double>(ways)});
      found_.push_back({"line_" + std::to_string(i) + "_bytes",
                        static_cast<double>(search_.line_bytes_of(page))});
    }
    return true;
  }

  std::vector<Value> values() override {
    std::vector<Value> found{
        {"pages", static_cast<double>(search_.fitting().size())},
        {"overflowing_pages", static_cast<double>(search_.overflowing().size())},
        {"page_bytes", static_cast<double>(LapTime::page_size_bytes)}};
    found.insert(found.end(), found_.begin(), found_.end());
    return found;
  }

 private:
  /// Pages whose sets are looked at: until enough of them could be told, on a busy core more.
  static constexpr std::size_t looks = 16;
  static constexpr std::size_t enough = 5;
  /// On a busy machine no further page is looked at after so long.
  static constexpr double most_s = 20;

  SteadyClock& clock_;
  LapTime lap_;
  ConflictSearch search_;
  std::vector<Value> found_;
};

}  // namespace nhalf
