// The difference pair table of simplified DES, built in a shared array.
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

}  // namespace nhalf
