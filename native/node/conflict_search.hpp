// SPDX-License-Identifier: Apache-2.0
// How many lines of the same place in their pages a cache holds, and how many of those share a set.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace nhalf {

/// Finds sets by conflicts, without knowing where pages lie in memory.
///
/// As long as no set of the cache has more lines than ways, another line makes a lap longer by a
/// hit; where a set overflows, each lap misses at least once, whatever is replaced. (P. Vila,
/// B. Köpf, J. F. Morales, "Theory and Practice of Finding Eviction Sets", IEEE S&P 2019, reduce
/// sets in a similar way to attack; this only counts.)
class ConflictSearch {
 public:
  using Pages = std::vector<std::uint32_t>;
  /// A page whose line is looked at, so many bytes further on than those of the others.
  struct More {
    std::uint32_t page = 0;
    std::size_t shift_bytes = 0;
  };
  /// By how many cycles one more page makes a lap over some pages longer.
  using Extra = std::function<double(std::span<const std::uint32_t>, More)>;

  /// A hit makes a lap `hit_cycles` longer, a miss at least `miss_cycles` more than that.
  ConflictSearch(Extra extra, double hit_cycles, double miss_cycles)
      : extra_(std::move(extra)), hit_cycles_(hit_cycles), slack_cycles_(miss_cycles / 2) {}

  /// Takes pages from 0 to `count` as long as they fit; the others overflow some set. It ends where
  /// many pages in a row do, since all sets are full then.
  void fill(std::uint32_t count) {
    // So few overflow nothing but the nearest cache, which all others then miss.
    std::uint32_t page = 0;
    for (; page < std::min<std::uint32_t>(others, count); ++page) fitting_.push_back(page);
    int in_a_row = 0;
    for (; page < count && in_a_row < full_after; ++page) {
      const bool over = overflows(fitting_, {page});
      (over ? overflowing_ : fitting_).push_back(page);
      in_a_row = over ? in_a_row + 1 : 0;
    }
  }

  [[nodiscard]] const Pages& fitting() const { return fitting_; }
  [[nodiscard]] const Pages& overflowing() const { return overflowing_; }

  /// How many of the fitting pages a page needs to overflow a set: the ways; 0 where that cannot be
  /// told.
  ///
  /// The nearest cache would be too small for some lines, too: so some others are always there,
  /// first any, then such that are not needed.
  std::size_t ways_of(std::uint32_t page) {
    if (fitting_.size() < 2 * others || !overflows(fitting_, {page})) return 0;
    const auto split = fitting_.end() - others;
    const Pages any(split, fitting_.end());
    Pages left(fitting_.begin(), split);
    const auto found = needed_of(page, any, left);
    std::erase_if(left, [&](std::uint32_t one) { return std::ranges::count(found, one) > 0; });
    left.resize(std::min<std::size_t>(left.size(), others));
    Pages rest = any;
    rest.insert(rest.end(), found.begin(), found.end());
    return needed_of(page, left, rest).size();
  }

  /// From how many bytes further on a page no longer overflows the set: the line; 0 where that
  /// cannot be told.
  std::size_t line_bytes_of(std::uint32_t page) {
    for (std::size_t shift_bytes = 8; shift_bytes <= line_bytes_max; shift_bytes *= 2)
      if (!overflows(fitting_, {page, shift_bytes})) return shift_bytes > 8 ? shift_bytes : 0;
    return 0;
  }

 private:
  static constexpr std::size_t ways_max = 32;
  static constexpr std::size_t line_bytes_max = 512;
  static constexpr int looks = 5;
  static constexpr int full_after = 160;
  /// More than the ways of any nearest cache.
  static constexpr int others = 48;

  /// The pages of the rest without which a page does not overflow a set, beside others; none where
  /// they are too many.
  Pages needed_of(std::uint32_t page, const Pages& beside, Pages rest) {
    Pages needed;
    while (needed.size() <= ways_max && !overflows(joined(beside, needed, needed.size()), {page})) {
      // The shortest beginning of the rest that overflows the set ends with a page of that set.
      const auto kept = joined(beside, needed, needed.size());
      std::size_t low = 0;
      std::size_t high = rest.size();
      while (high - low > 1) {
        const auto middle = low + (high - low) / 2;
        (overflows(joined(kept, rest, middle), {page}) ? high : low) = middle;
      }
      if (high == 0) return {};
      needed.push_back(rest[high - 1]);
      rest.resize(high - 1);
    }
    return needed.size() > ways_max ? Pages{} : needed;
  }

  static Pages joined(const Pages& kept, const Pages& rest, std::size_t count) {
    Pages all = kept;
    all.insert(all.end(), rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(count));
    return all;
  }

  /// Whether a page misses among others that fit, or makes them miss. That it hits is seen twice:
  /// a disturbance can look like either, but not like just one more hit.
  bool overflows(const Pages& pages, More more) {
    int hits = 0;
    for (int look = 0; look < looks; ++look) {
      const double more_cycles = extra_(pages, more) - hit_cycles_;
      hits += std::abs(more_cycles) < slack_cycles_ ? 1 : 0;
      if (hits == 2) return false;
    }
    return true;
  }

  Extra extra_;
  double hit_cycles_;
  double slack_cycles_;
  Pages fitting_;
  Pages overflowing_;
};

}  // namespace nhalf
