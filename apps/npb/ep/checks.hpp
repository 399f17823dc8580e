// EP: a tally beside the official values.
#pragma once

#include <vector>

#include "apps/npb/ep/numerics.hpp"
#include "apps/npb/ep/problem.hpp"

namespace nhalf::npb::ep {

inline std::vector<Check> checks_of(const Problem& problem, const Tally& tally) {
  return {{"sum of |X|", tally.sum_x, problem.sum_x, tolerance},
          {"sum of |Y|", tally.sum_y, problem.sum_y, tolerance},
          {"pairs", tally.pairs(), problem.count, 0}};
}

}  // namespace nhalf::npb::ep
