// IS: classes and official values (RNR-94-007 and NPB 3.4).
#pragma once

#include <array>
#include <cstdint>

#include "apps/npb/kernel.hpp"

namespace nhalf::npb::is {

inline constexpr int tests = 5;

/// 2^log_keys keys below 2^log_max are ranked. The keys at `places` have known ranks, which change
/// with the number of the iteration: by `direction` times the sum of it and `shift`.
struct Problem {
  char name;
  int log_keys;
  int log_max;
  int log_buckets;
  std::array<std::int64_t, tests> places;
  std::array<std::int64_t, tests> ranks;
  std::array<int, tests> direction;
  std::array<int, tests> shift;

  [[nodiscard]] std::int64_t keys() const { return std::int64_t{1} << log_keys; }
  [[nodiscard]] int max_key() const { return 1 << log_max; }
  [[nodiscard]] int buckets() const { return 1 << log_buckets; }
  /// Keys by this many bits are the number of their bucket.
  [[nodiscard]] int bucket_shift() const { return log_max - log_buckets; }
};

inline constexpr auto problems = std::to_array<Problem>({
#include "apps/npb/is/classes.inc"
});

inline constexpr int iterations = 10;

inline double operations(char name) {
  return static_cast<double>(problem_of<Problem>(problems, name).keys()) * iterations;
}

inline double memory_bytes(char name) {
  const auto& problem = problem_of<Problem>(problems, name);
  return 13.0 * static_cast<double>(problem.keys()) + 4.0 * problem.max_key();
}

inline constexpr KernelInfo info{
    .name = "npb-is",
    .what = "integer sort: the rank of every key among all",
    .ranks = RankRule::power_of_two,
    .classes = "SWABCD",
    .operations = operations,
    .memory_bytes = memory_bytes,
    .ranks_max = [](char name) { return problem_of<Problem>(problems, name).buckets(); },
};

}  // namespace nhalf::npb::is
