// Several pairs of ranks at once: who talks to whom.
#pragma once

#include <array>

#include "patterns/bases/pair.hpp"

namespace nhalf {

inline constexpr std::array pairs_axes{
    AxisInfo{"pairs", "1:ranks/2:x2,ranks/2", "",
             "pairs (i, i + ranks/2) at once, spread evenly: i = j * (ranks/2) / pairs, rounded "
             "down, for j from 0 to pairs - 1"}};

/// How many pairs a point asks for.
inline int pairs_of(const Case& point, int ranks) {
  return point.axis("pairs", 1, ranks / 2);
}

/// The pair to which a rank belongs when `pairs` of the h = ranks/2 pairs (i, i + h) take part:
/// those with i = floor(j h / pairs), j = 0 .. pairs - 1. Nobody where it belongs to none.
inline Partners spread_pair(int rank, int ranks, int pairs) {
  const int half = ranks / 2;
  if (rank >= 2 * half) return {-1, -1};
  const long first = rank % half;
  const long place = (first * pairs + half - 1) / half;
  if (place >= pairs || place * half / pairs != first) return {-1, -1};
  return {static_cast<int>(first), static_cast<int>(first) + half};
}

}  // namespace nhalf
