// Finds how many lines at one page offset a cache holds, and how many of them share a set.
#pragma once

#include <cmath>
#include <functional>

#include "contract/vocabulary.hpp"

namespace nhalf {
/// Finds cache sets by conflicts, without knowing the physical addresses of pages.
///
/// While no set of the cache has more lines than ways, another line makes a lap longer by a
/// hit; once a set overflows, every lap misses at least once under any replacement policy.
/// (P. Vila, B. Köpf, J. F. Morales, "Theory and Practice of Finding Eviction Sets", IEEE S&P 2019,
/// reduce sets in a similar way to attack; this only counts.)
class ConflictSearch {
 public:
  using Pages = std::vector<std::uint32_t>;
  /// A page whose line is tested, `shift_bytes` behind the page offset of all others.
  struct Candidate {
    std::uint32_t page = 0;
    std::size_t shift_bytes = 0;
  };
  /// Returns by how many cycles the candidate makes a lap over some pages longer.
  using ExtraCycles = std::function<double(std::span<const std::uint32_t>, Candidate)>;

  /// A hit makes a lap `hit_cycles` longer, a miss at least `miss_cycles` more than that.
  ConflictSearch(ExtraCycles extra_cycles, double hit_cycles, double miss_cycles)
      : extra_cycles_(std::move(extra_cycles)),
        hit_cycles_(hit_cycles),
        slack_cycles_(miss_cycles / 2) {}

  /// Sorts pages from 0 to `count` into those that fit and those that overflow some set. Stops when
  /// many in a row overflow, since all sets are full then.
  void fill(std::uint32_t count) {
    // These few overflow the nearest cache only, which all further pages then miss.
    std::uint32_t page = 0;
    for (; page < std::min<std::uint32_t>(background_pages, count); ++page)
      fitting_.push_back(page);
    int in_a_row = 0;
    for (; page < count && in_a_row < full_after; ++page) {
      const bool over = overflows(fitting_, {page});
      (over ? overflowing_ : fitting_).push_back(page);
      in_a_row = over ? in_a_row + 1 : 0;
    }
  }

  [[nodiscard]] const Pages& fitting() const { return fitting_; }
  [[nodiscard]] const Pages& overflowing() const { return overflowing_; }

  /// Returns the number of ways, which is how many fitting pages a page needs to overflow a set; 0
  /// if it is unclear.
  ///
  /// The nearest cache overflows, too, so background pages are always accessed: first arbitrary
  /// ones, then ones outside the set.
  std::size_t ways_of(std::uint32_t page) {
    if (fitting_.size() < 2 * background_pages || !overflows(fitting_, {page})) return 0;
    const auto split = fitting_.end() - background_pages;
    const Pages background(split, fitting_.end());
    Pages candidates(fitting_.begin(), split);
    const auto set_pages = needed_of(page, background, candidates);
    std::erase_if(candidates, [&](std::uint32_t candidate) {
      return std::ranges::count(set_pages, candidate) > 0;
    });
    candidates.resize(std::min<std::size_t>(candidates.size(), background_pages));
    Pages searched = background;
    searched.insert(searched.end(), set_pages.begin(), set_pages.end());
    return needed_of(page, candidates, searched).size();
  }

  /// Returns the line size, which is the shift by which a page no longer overflows its set; 0 if it
  /// is unclear.
  std::size_t line_bytes_of(std::uint32_t page) {
    for (std::size_t shift_bytes = 8; shift_bytes <= line_bytes_max; shift_bytes *= 2)
      if (!overflows(fitting_, {page, shift_bytes})) return shift_bytes > 8 ? shift_bytes : 0;
    return 0;
  }

 private:
  static constexpr std::size_t ways_max = 32;
  static constexpr std::size_t line_bytes_max = 512;
  static constexpr int trials_max = 5;
  static constexpr int full_after = 160;
  /// Number of background pages: more than the ways of any nearest cache.
  static constexpr int background_pages = 48;

  /// Returns those of `searched` without which the page overflows no set, beside the background;
  /// none if there are too many.
  Pages needed_of(std::uint32_t page, const Pages& background, Pages searched) {
    Pages needed;
    while (needed.size() <= ways_max &&
           !overflows(joined(background, needed, needed.size()), {page})) {
      // The shortest prefix of `searched` that overflows the set ends with a page of that set.
      const auto base = joined(background, needed, needed.size());
      std::size_t low = 0;
      std::size_t high = searched.size();
      while (high - low > 1) {
        const auto middle = low + (high - low) / 2;
        (overflows(joined(base, searched, middle), {page}) ? high : low) = middle;
      }
      if (high == 0) return {};
      needed.push_back(searched[high - 1]);
      searched.resize(high - 1);
    }
    return needed.size() > ways_max ? Pages{} : needed;
  }

  static Pages joined(const Pages& base, const Pages& added, std::size_t count) {
    Pages pages = base;
    pages.insert(pages.end(), added.begin(), added.begin() + static_cast<std::ptrdiff_t>(count));
    return pages;
  }

  /// Whether the candidate misses, or makes fitting pages miss. Two trials have to show a hit,
  /// since a disturbance seldom looks like exactly one more hit.
  bool overflows(const Pages& pages, Candidate candidate) {
    int hits = 0;
    for (int trial = 0; trial < trials_max; ++trial) {
      const double extra_cycles = extra_cycles_(pages, candidate) - hit_cycles_;
      hits += std::abs(extra_cycles) < slack_cycles_ ? 1 : 0;
      if (hits == 2) return false;
    }
    return true;
  }

  ExtraCycles extra_cycles_;
  double hit_cycles_;
  double slack_cycles_;
  Pages fitting_;
  Pages overflowing_;
};
}  // namespace nhalf
