// SPDX-License-Identifier: Apache-2.0
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

inline constexpr std::array problems{
    Problem{'S',
            16,
            11,
            9,
            {48427, 17148, 23627, 62548, 4431},
            {0, 18, 346, 64917, 65463},
            {1, 1, 1, -1, -1},
            {}},
    Problem{'W',
            20,
            16,
            10,
            {357773, 934767, 875723, 898999, 404505},
            {1249, 11698, 1039987, 1043896, 1048018},
            {1, 1, -1, -1, -1},
            {-2, -2, 0, 0, 0}},
    Problem{'A',
            23,
            19,
            10,
            {2112377, 662041, 5336171, 3642833, 4250760},
            {104, 17523, 123928, 8288932, 8388264},
            {1, 1, 1, -1, -1},
            {-1, -1, -1, -1, -1}},
    Problem{'B',
            25,
            21,
            10,
            {41869, 812306, 5102857, 18232239, 26860214},
            {33422937, 10244, 59149, 33135281, 99},
            {-1, 1, 1, -1, 1},
            {}},
    Problem{'C',
            27,
            23,
            10,
            {44172927, 72999161, 74326391, 129606274, 21736814},
            {61147, 882988, 266290, 133997595, 133525895},
            {1, 1, 1, -1, -1},
            {}},
    Problem{'D',
            31,
            27,
            10,
            {1317351170, 995930646, 1157283250, 1503301535, 1453734525},
            {1, 36538729, 1978098519, 2145192618, 2147425337},
            {1, 1, -1, -1, -1},
            {}},
};

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
