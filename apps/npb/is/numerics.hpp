// IS: counting keys of a part, by bucket and one by one.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "apps/npb/is/problem.hpp"
#include "apps/npb/random.hpp"

namespace nhalf::npb::is {

/// The keys from number `first` on: four random numbers each.
inline void make_keys(const Problem& problem, std::int64_t first, std::span<int> keys) {
  Random random;
  random.skip(static_cast<std::uint64_t>(4 * first));
  const double quarter = problem.max_key() / 4.0;
  for (int& key : keys) {
    double sum = random.next();
    for (int i = 1; i < 4; ++i) sum += random.next();
    key = static_cast<int>(quarter * sum);
  }
}

/// Changes two keys in every iteration, which belong to the rank with the first keys.
inline void change_keys(const Problem& problem, int iteration, std::span<int> keys) {
  keys[static_cast<std::size_t>(iteration)] = iteration;
  keys[static_cast<std::size_t>(iteration + iterations)] = problem.max_key() - iteration;
}

/// Counts the keys in each bucket. Two tables take turns, since equal neighbours would wait for
/// each other.
inline void count_buckets(std::span<const int> keys, int shift, std::span<int> counts,
                          std::span<int> scratch) {
  std::ranges::fill(counts, 0);
  std::ranges::fill(scratch, 0);
  std::size_t i = 0;
  for (; i + 1 < keys.size(); i += 2) {
    ++counts[static_cast<std::size_t>(keys[i] >> shift)];
    ++scratch[static_cast<std::size_t>(keys[i + 1] >> shift)];
  }
  if (i < keys.size()) ++counts[static_cast<std::size_t>(keys[i] >> shift)];
  for (std::size_t bucket = 0; bucket < counts.size(); ++bucket) counts[bucket] += scratch[bucket];
}

/// Puts keys into their buckets; `next` holds by bucket where its next key goes.
template <class Place>
void scatter(std::span<const int> keys, int shift, std::span<Place> next, int* out) {
  for (const int key : keys) out[next[static_cast<std::size_t>(key >> shift)]++] = key;
}

/// Counts how many of some keys are below each number from `first` on, as many numbers as the array
/// holds. All keys are among these numbers.
inline void rank_keys(std::span<const int> keys, int first, std::span<int> below) {
  std::ranges::fill(below, 0);
  for (const int key : keys) ++below[static_cast<std::size_t>(key - first)];
  int sum = 0;
  for (int& number : below) {
    const int count = number;
    number = sum;
    sum += count;
  }
}

/// Counts the known ranks that an iteration found, among keys from `first` on, which `before` keys
/// precede.
inline int right_ranks(const Problem& problem, int iteration, std::span<const int> test_keys,
                       int first, std::int64_t before, std::span<const int> below) {
  int right = 0;
  for (std::size_t test = 0; test < tests; ++test) {
    const std::int64_t place = std::int64_t{test_keys[test]} - first;
    if (place < 0 || place >= static_cast<std::int64_t>(below.size())) continue;
    const auto rank = before + below[static_cast<std::size_t>(place)];
    const auto change = problem.direction[test] * (iteration + problem.shift[test]);
    right += rank == problem.ranks[test] + change ? 1 : 0;
  }
  return right;
}

/// Sorts keys by their ranks, and tells how many are smaller than the one in front of them.
inline std::int64_t disorder(std::span<const int> keys, int first, std::span<int> below,
                             std::span<int> sorted) {
  for (const int key : keys)
    sorted[static_cast<std::size_t>(below[static_cast<std::size_t>(key - first)]++)] = key;
  std::int64_t wrong = 0;
  for (std::size_t i = 1; i < keys.size(); ++i) wrong += sorted[i - 1] > sorted[i] ? 1 : 0;
  return wrong;
}

}  // namespace nhalf::npb::is
