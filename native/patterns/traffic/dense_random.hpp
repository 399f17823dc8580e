#pragma once

#include <algorithm>

#include "contract/permutation.hpp"
#include "patterns/bases/traffic/phase_loop.hpp"

namespace nhalf {

inline constexpr AxisInfo dense_random_axes[] = {
    {"phase", "1:ranks-1", "",
     "number of the random order; its first two ranks are a pair, and so on"},
    {"seed", "1", "1", "of the random orders"}};

inline constexpr PatternInfo dense_random{
    .name = "dense-random",
    .what = "ranks in pairs that are drawn anew for each phase send to each other at once",
    .needs = "duplex",
    .timing = Timing::slowest_rank,
    .axes = dense_random_axes};

inline Phase random_phase(int rank, int ranks, const Case& point) {
  const int number = point.axis("phase", 1, ranks - 1);
  const auto order = permutation(ranks, point.axes.number("seed", std::uint64_t{1}), number);
  const auto place = std::ranges::find(order, rank) - order.begin();
  const auto partner = static_cast<std::size_t>(place % 2 == 0 ? place + 1 : place - 1);
  return Phase::with(partner < order.size() ? order[partner] : -1, ranks / 2);
}

template <Duplex T>
using DenseRandom = PhaseLoop<T, random_phase>;

NHALF_PATTERN(dense_random, DenseRandom);

}  // namespace nhalf
