// Measures size and associativity of a physically indexed cache from conflicts alone.
#pragma once

#include "node/conflict_search.hpp"
#include "node/core.hpp"
#include "node/memory_loops.hpp"
#include "timing/clock.hpp"

namespace nhalf {
// Measures the cycles of a lap through a few lines, each on a page of its own.

/// Times pointer chases over one line of each of some pages. Every lap begins with lines of other
/// pages, so that the first-level TLB always misses and every line costs the same.
class LapTime {
 public:
  static constexpr std::size_t page_size_bytes = 4096;
  /// Pages that fill the TLB, with lines spread over enough cache sets that none overflows.
  static constexpr std::size_t before = 192;

  LapTime(SteadyClock& clock, double overhead_s, CoreWitness<SteadyClock>& core, Region& region,
          std::size_t pages, std::size_t line_bytes)
      : clock_(clock),
        overhead_s_(overhead_s),
        core_(core),
        witness_(clock, overhead_s),
        base_(region.data()),
        line_bytes_(line_bytes),
        order_(pages) {
    std::iota(order_.begin(), order_.end(), std::uint32_t{0});
    std::ranges::shuffle(order_, std::mt19937_64(1));
  }

  /// Number of pages that may be tested, numbered from 0.
  [[nodiscard]] std::size_t pages() const { return order_.size() - before; }

  /// Returns by how many cycles one more page makes a lap over `pages` longer. Batches with and
  /// without it alternate, so that slow changes affect both; the least disturbed ones count.
  double extra_cycles(std::span<const std::uint32_t> pages, std::uint32_t candidate,
                      std::size_t shift_bytes = 0) {
    void** const last = link(pages);
    void** const first = static_cast<void**>(*last);
    void** const added = line(before + candidate, 0) + shift_bytes / sizeof(void*);
    *added = first;
    const std::size_t lines = before + pages.size();
    double without_s = std::numeric_limits<double>::infinity();
    double with_s = without_s;
    for (int batch = 0; batch < batches; ++batch) {
      wait_until_alone();
      *last = first;
      without_s = std::min(without_s, lap_s(first, lines));
      *last = added;
      with_s = std::min(with_s, lap_s(first, lines + 1));
    }
    return (with_s - without_s) / cycle_s_;
  }

  /// Returns the cycles of a load in a lap over `pages`.
  double load_cycles(std::span<const std::uint32_t> pages) {
    void** const first = static_cast<void**>(*link(pages));
    for (int batch = 0; batch < batches; ++batch) cycle_s_ = std::min(cycle_s_, witness_.cycle_s());
    const std::size_t lines = before + pages.size();
    return lap_s(first, lines) / static_cast<double>(lines) / cycle_s_;
  }

  /// Goes on loading where the last lap ended.
  void follow_on(std::uint64_t loads) {
    void* reached = reached_;
    for (; loads > 0; --loads) reached = follow(reached);
    reached_ = reached;
  }

 private:
  /// Total time to wait until no other thread shares the core and its cache.
  static constexpr double patience_s = 3;

  void wait_until_alone() {
    while (waited_s_ < patience_s) {
      const double start_s = clock_.now_s();
      if (core_.is_alone(std::min(witness_.cycle_s(), witness_.cycle_s()))) return;
      waited_s_ += clock_.now_s() - start_s;
    }
  }

  static constexpr int batches = 6;
  static constexpr std::size_t laps = 4;

  [[nodiscard]] void** line(std::size_t page, std::size_t slot) const {
    const auto place = std::size_t{order_[page]} * page_size_bytes + slot * line_bytes_;
    return reinterpret_cast<void**>(base_ + place);
  }
  /// Times a lap, after one that loads all lines into the cache.
  double lap_s(void* reached, std::size_t lines) {
    for (std::size_t i = 0; i < lines; ++i) reached = follow(reached);
    const double start_s = clock_.now_s();
    for (std::size_t i = 0; i < laps * lines; ++i) reached = follow(reached);
    const double spent_s = clock_.now_s() - start_s - overhead_s_;
    reached_ = reached;
    return spent_s / static_cast<double>(laps);
  }

  /// Links the lines to a ring and returns the last one, which points to the first.
  void** link(std::span<const std::uint32_t> pages) {
    constexpr std::size_t slots = 8;
    void** const first = line(0, 1);
    void** latest = first;
    const auto append = [&](void** next) {
      *latest = next;
      latest = next;
    };
    for (std::size_t i = 1; i < before; ++i) append(line(i, 1 + i % slots));
    for (const auto page : pages) append(line(before + page, 0));
    *latest = first;
    return latest;
  }
  static void* follow(void* reached) { return *static_cast<void* volatile*>(reached); }

  SteadyClock& clock_;
  double overhead_s_;
  CoreWitness<SteadyClock>& core_;
  CycleWitness<SteadyClock> witness_;
  double waited_s_ = 0;
  std::byte* base_;
  std::size_t line_bytes_;
  std::vector<std::uint32_t> order_;
  double cycle_s_ = 1e-9;
  void* volatile reached_ = nullptr;
};

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
