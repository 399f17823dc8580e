// Both tables of differences of simplified DES, built in shared arrays.
#pragma once

#include "contract/pattern.hpp"
#include "patterns/bases/arrays/sdes_build.hpp"

namespace nhalf {

inline constexpr AxisInfo sdes_pairs_axes[] = {
    sdes::table_access_axis,
    {"block", "even", "even", "entries in a block; even: one block for each rank"},
    sdes::tabled_axis};

inline constexpr PatternInfo sdes_pairs_info{
    .name = "sdes-dpt",
    .what =
        "the difference pair table of simplified DES is built in a shared array, each rank what "
        "lies at it: for each difference of inputs and each input the difference of the outputs",
    .needs = "one-sided, computing",
    .ranks_min = 1,
    .timing = Timing::slowest_rank,
    .axes = sdes_pairs_axes,
    .sized = false};
template <ArraysOf T>
class SdesPairs : public sdes::TablePattern<T, sdes::PairTable<T>> {
 public:
  SdesPairs(T& transport, const Case& point)
      : sdes::TablePattern<T, sdes::PairTable<T>>(transport, point,
                                                  sdes::tabled_of(point).pairs()) {}
};
NHALF_PATTERN(sdes_pairs_info, SdesPairs);

inline constexpr AxisInfo sdes_distribution_axes[] = {
    sdes::table_access_axis,
    {"block", "even", "even", "rows in a block of both tables; even: one block for each rank"},
    sdes::tabled_axis};

inline constexpr PatternInfo sdes_distribution_info{
    .name = "sdes-ddt",
    .what =
        "the difference distribution table of simplified DES is built in a shared array from the "
        "pair table in another, each rank the rows that lie at it: for each difference of "
        "inputs how often it becomes each difference of outputs",
    .needs = "one-sided, computing",
    .ranks_min = 1,
    .timing = Timing::slowest_rank,
    .axes = sdes_distribution_axes,
    .sized = false};
template <ArraysOf T>
class SdesDistribution : public sdes::TablePattern<T, sdes::DistributionTable<T>> {
 public:
  SdesDistribution(T& transport, const Case& point)
      : sdes::TablePattern<T, sdes::DistributionTable<T>>(transport, point,
                                                          sdes::tabled_of(point).rows()) {}
};
NHALF_PATTERN(sdes_distribution_info, SdesDistribution);

}  // namespace nhalf
