// The ports out of ranks, which each message occupies for a time: messages leave one after the
// other.
#pragma once

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "replay/columns.hpp"

namespace nhalf::replay {
class Ports {
 public:
  /// `occupancy_s` is by route; without it there are no ports.
  Ports(const Script& script, const Costs& costs, const Column<const double>& occupancy_s)
      : sending_s_(costs.sending_s), occupancy_s_(occupancy_s) {
    for (Place route = 0; route < occupancy_s.size; ++route)
      free_s_of_.push_back(&free_s_[script.source[route]]);
  }

  /// Sends a message; returns by how much the busy port of its rank delays it.
  double delay_s(Number route, double now_s) {
    const double occupancy_s = occupancy_s_[route];
    if (occupancy_s == 0) return 0;
    double& free_s = *free_s_of_[static_cast<std::size_t>(route)];
    const double ready_s = now_s + sending_s_[route], begin_s = std::max(ready_s, free_s);
    free_s = begin_s + occupancy_s;
    return begin_s - ready_s;
  }

 private:
  Column<const double> sending_s_, occupancy_s_;
  /// When the port of each rank is free, and by route that of its source.
  std::unordered_map<Number, double> free_s_;
  std::vector<double*> free_s_of_;
};
}  // namespace nhalf::replay
