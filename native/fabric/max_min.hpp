// SPDX-License-Identifier: Apache-2.0
// The rates of flows that share links: max-min fairness by progressive filling, as
// src/nhalf/machines/max_min.py has it, in whole bytes per second, so that it repeats itself. All
// flows grow alike; where a link is full its flows stop, and the others go on (D. Bertsekas,
// R. Gallager, Data Networks, 1992, section 6.5).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "fabric/topology.hpp"

namespace nhalf::fabric {

/// A link, or anything else that messages share.
struct Load {
  std::uint64_t capacity_Bps;
  /// What its flows would move without each other.
  std::uint64_t demand_Bps;
  /// What is left, and how many flows grow yet: while rates are found.
  std::uint64_t free_Bps;
  std::uint64_t growing;

  [[nodiscard]] bool is_short() const { return demand_Bps > capacity_Bps; }
  [[nodiscard]] std::uint64_t level_Bps() const { return free_Bps / growing; }
};

struct Sharer {
  std::span<const Link> way;
  /// What it moves alone, and beside the others.
  std::uint64_t demand_Bps = 0;
  std::uint64_t rate_Bps = 0;
  /// Whose it is, to those who ask.
  std::uint32_t rank = 0;
  bool is_growing = false;
};

/// Finds rates. Links that are wide enough for all of their flows limit nothing.
class MaxMin {
 public:
  /// `loads` are those of all links that the flows pass; their demands are the flows'.
  void share(std::span<Sharer> flows, Load* loads) {
    begin(flows, loads);
    while (growing_ > 0) {
      const auto level_Bps = lowest_level();
      if (!freeze_small(flows, loads, level_Bps)) freeze_at(flows, loads, level_Bps);
    }
  }

 private:
  void begin(std::span<Sharer> flows, Load* loads) {
    short_.clear();
    growing_ = 0;
    for (auto& flow : flows) {
      flow.rate_Bps = flow.demand_Bps;
      flow.is_growing = false;
      for (const auto link : flow.way) {
        auto& load = loads[link];
        if (!load.is_short()) continue;
        flow.is_growing = true;
        if (load.growing++ > 0) continue;
        load.free_Bps = load.capacity_Bps;
        short_.push_back(&load);
      }
      growing_ += flow.is_growing ? 1 : 0;
    }
  }
  [[nodiscard]] std::uint64_t lowest_level() const {
    auto lowest = ~std::uint64_t{0};
    for (const auto* load : short_)
      if (load->growing > 0) lowest = std::min(lowest, load->level_Bps());
    return lowest;
  }
  /// Stops flows that alone move no more than a level that all can have.
  bool freeze_small(std::span<Sharer> flows, Load* loads, std::uint64_t level_Bps) {
    bool is_any = false;
    for (auto& flow : flows) {
      if (!flow.is_growing || flow.demand_Bps > level_Bps) continue;
      freeze(flow, loads, flow.demand_Bps);
      is_any = true;
    }
    return is_any;
  }
  /// Stops the flows of links that are full at this level.
  void freeze_at(std::span<Sharer> flows, Load* loads, std::uint64_t level_Bps) {
    full_.clear();
    for (auto* load : short_)
      if (load->growing > 0 && load->level_Bps() == level_Bps) full_.push_back(load);
    for (auto& flow : flows) {
      const bool is_full =
          flow.is_growing && std::any_of(flow.way.begin(), flow.way.end(), [&](Link link) {
            return std::find(full_.begin(), full_.end(), &loads[link]) != full_.end();
          });
      if (is_full) freeze(flow, loads, std::max<std::uint64_t>(level_Bps, 1));
    }
  }
  void freeze(Sharer& flow, Load* loads, std::uint64_t rate_Bps) {
    flow.rate_Bps = rate_Bps;
    flow.is_growing = false;
    --growing_;
    for (const auto link : flow.way) {
      auto& load = loads[link];
      if (load.growing == 0) continue;
      load.free_Bps -= std::min(load.free_Bps, rate_Bps);
      --load.growing;
    }
  }

  std::vector<Load*> short_;
  std::vector<Load*> full_;
  std::size_t growing_ = 0;
};

}  // namespace nhalf::fabric
