// The rates of flows that share links: max-min fairness by progressive filling, in whole bytes per
// second, so that it repeats itself. All flows grow alike; where a link is full its flows stop, and
// the others go on (D. Bertsekas, R. Gallager, Data Networks, 1992, section 6.5).
#pragma once

#include <cmath>
#include <span>

#include "network/topology.hpp"

namespace nhalf::network {
/// A link, or anything else that messages share.
struct Load {
  std::uint64_t capacity_Bps;
  /// What its flows would move without each other.
  std::uint64_t demand_Bps;
  /// What is left for flows that grow yet, how many those are, and what each may get: while rates
  /// are found.
  std::uint64_t free_Bps;
  std::uint64_t growing;
  std::uint64_t level_Bps;

  [[nodiscard]] bool is_short() const { return demand_Bps > capacity_Bps; }
};

struct Sharer {
  std::span<const Link> way;
  /// What it moves alone, and beside the others.
  std::uint64_t demand_Bps = 0;
  std::uint64_t rate_Bps = 0;
  /// Whose it is, to those who ask.
  std::uint32_t rank = 0;
};

/// Finds rates. Links that are wide enough for all of their flows limit nothing.
class MaxMin {
 public:
  /// `loads` are those of all links that the flows pass; their demands are the flows'.
  void share(std::span<Sharer> flows, Load* loads) {
    begin(flows, loads);
    while (!growing_.empty()) {
      const auto level_Bps = lowest_level();
      // Flows that alone move no more than all can have stop there, else those of full links.
      const bool is_any = freeze(loads, [&](const Sharer& flow) {
        return flow.demand_Bps <= level_Bps ? flow.demand_Bps : 0;
      });
      if (is_any) continue;
      freeze(loads, [&](const Sharer& flow) {
        const bool is_full = std::any_of(flow.way.begin(), flow.way.end(), [&](Link link) {
          return loads[link].growing > 0 && loads[link].level_Bps == level_Bps;
        });
        return is_full ? std::max<std::uint64_t>(level_Bps, 1) : 0;
      });
    }
  }

 private:
  void begin(std::span<Sharer> flows, Load* loads) {
    short_.clear();
    growing_.clear();
    for (auto& flow : flows) {
      flow.rate_Bps = flow.demand_Bps;
      bool is_growing = false;
      for (const auto link : flow.way) {
        auto& load = loads[link];
        if (!load.is_short()) continue;
        is_growing = true;
        if (load.growing++ > 0) continue;
        load.free_Bps = load.capacity_Bps;
        short_.push_back(&load);
      }
      if (is_growing) growing_.push_back(&flow);
    }
  }
  std::uint64_t lowest_level() {
    auto lowest = ~std::uint64_t{0};
    std::erase_if(short_, [](const Load* load) { return load->growing == 0; });
    for (auto* load : short_) {
      load->level_Bps = load->free_Bps / load->growing;
      lowest = std::min(lowest, load->level_Bps);
    }
    return lowest;
  }
  /// Stops growing flows at a rate, those for which it is not 0; whether there were any.
  template <class Rate>
  bool freeze(Load* loads, Rate rate_of) {
    frozen_.clear();
    std::erase_if(growing_, [&](Sharer* flow) {
      const std::uint64_t rate_Bps = rate_of(*flow);
      if (rate_Bps == 0) return false;
      flow->rate_Bps = rate_Bps;
      frozen_.push_back(flow);
      return true;
    });
    for (const auto* flow : frozen_)
      for (const auto link : flow->way) {
        auto& load = loads[link];
        if (load.growing == 0) continue;
        load.free_Bps -= std::min(load.free_Bps, flow->rate_Bps);
        --load.growing;
      }
    return !frozen_.empty();
  }

  std::vector<Load*> short_;
  std::vector<Sharer*> growing_;
  std::vector<Sharer*> frozen_;
};

/// Fair rates that are no whole numbers: they become whole ones, so large that all that flows stays
/// just below 2^63.
class RealMaxMin {
 public:
  /// Writes what flows move on these ways, each no more than alone, by links' capacities.
  void share(std::span<const Way> ways, const double* alone_Bps,
             const std::vector<double>& capacities_Bps, double* rates_Bps) {
    const auto count = ways.size();
    const auto most_Bps =
        2 * static_cast<double>(count) * *std::max_element(alone_Bps, alone_Bps + count);
    const auto scale = std::exp2(62 - std::ceil(std::log2(most_Bps)));
    loads_.clear();
    for (const auto rate_Bps : capacities_Bps)
      loads_.push_back(
          {static_cast<std::uint64_t>(std::min(rate_Bps * scale, 0x1p62)), 0, 0, 0, 0});
    flows_.clear();
    for (std::size_t at = 0; at < count; ++at) {
      const auto demand = static_cast<std::uint64_t>(alone_Bps[at] * scale);
      for (const auto link : ways[at]) loads_[link].demand_Bps += demand;
      flows_.push_back({ways[at], demand});
    }
    max_min_.share(flows_, loads_.data());
    for (std::size_t at = 0; at < count; ++at)
      rates_Bps[at] = static_cast<double>(flows_[at].rate_Bps) / scale;
  }

 private:
  std::vector<Load> loads_;
  std::vector<Sharer> flows_;
  MaxMin max_min_;
};
}  // namespace nhalf::network
