// Coefficients of the implicit part of a time step that do not depend on the quantities.
#pragma once

#include <array>

#include "apps/npb/flow/fourth_difference.hpp"
#include "apps/npb/flow/subdomain.hpp"

namespace nhalf::npb::flow {

struct Implicit {
  Implicit(const Subdomain& box, double step)
      : dt(step), convective(dt * Spacing(box.n).central), viscous(dt * Spacing(box.n).second) {
    for (std::size_t d = 0; d < 3; ++d) smooth.emplace_back(box.n, box.low[d], box.size[d]);
  }
  double dt;
  double convective;  // dt / 2h
  double viscous;     // dt / h^2
  std::vector<FourthDifference> smooth;
};

}  // namespace nhalf::npb::flow
