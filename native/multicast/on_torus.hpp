// Ways to multicast that know the places of nodes on a torus.
#pragma once

#include "multicast/bases/multicast.hpp"
#include "multicast/bases/torus_order.hpp"

namespace nhalf::multicast {
/// M_d-torus: as many phases as dimensions, the destinations cut by dimension.
///
/// In phase i a holder sends one worm round its ring in dimension i: it visits one representative
/// of each plane across that ring in which it has destinations, and representatives do the same in
/// the next dimension. With all nodes as destinations every worm passes k - 1 links. Source: see
/// TorusOrder. A representative is a destination, that nearest to the ring: nodes that are none
/// have no part in a multicast in software.
class MdTorus {
 public:
  explicit MdTorus(const Multicast& multicast)
      : multicast_(multicast), schedule_(empty_schedule(multicast)) {
    spread(multicast.source, multicast.destinations, 0);
  }

  [[nodiscard]] Schedule schedule() && { return std::move(schedule_); }

 private:
  /// A holder brings the message to destinations that share its place in the dimensions before.
  void spread(int holder, const std::vector<int>& destinations, std::size_t dimension) {
    if (destinations.empty()) return;
    const auto& topology = multicast_.topology;
    std::map<int, std::vector<int>> planes;
    for (const int node : destinations)
      planes[topology.steps_up(holder, node, dimension)].push_back(node);
    planes.try_emplace(0);  // its own, which comes first
    std::vector<int> worm;
    for (auto& [steps, plane] : planes) {
      // Within one plane only the distance across the ring differs.
      const auto nearest = std::ranges::min_element(
          plane, {}, [&](int node) { return topology.relative(holder, node); });
      worm.push_back(steps == 0 ? holder : *nearest);
      if (steps != 0) plane.erase(nearest);
    }
    add_worm(schedule_, worm);
    std::size_t visited = 0;
    for (const auto& [steps, plane] : planes) spread(worm[visited++], plane, dimension + 1);
  }

  const Multicast& multicast_;
  Schedule schedule_;
};

inline Schedule md_torus(const Multicast& multicast) {
  return MdTorus(multicast).schedule();
}

inline const bool enrolled_md_torus =
    enroll_multicast({.name = "md-torus",
                      .what = "paths round the rings of one dimension after the other",
                      .needs_torus = true,
                      .make = md_torus});

/// U-torus: a binomial tree whose messages of one step keep out of each other's way.
///
/// The source and its destinations, sorted by how many steps up they are from it (the dimension
/// that is routed first counts most), are a chain. Who holds a piece of it sends to the first node
/// of its second half, which takes that half over; ceil(log2 m) steps for m nodes. Where routing is
/// by dimension, no channel carries more than two messages of a step: two virtual channels do, on
/// plain links some wait (D. Robinson, P. McKinley, B. Cheng, "Optimal multicast communication in
/// wormhole-routed torus networks", IEEE Transactions on Parallel and Distributed Systems 6(10),
/// 1995).
inline Schedule u_torus(const Multicast& multicast) {
  auto chain = in_order(multicast);
  std::ranges::sort(chain, {},
                    [&](int node) { return multicast.topology.relative(multicast.source, node); });
  auto schedule = empty_schedule(multicast);
  const auto spread = [&](const auto& self, std::size_t first, std::size_t end) -> void {
    while (end - first > 1) {
      const auto middle = first + (end - first + 1) / 2;
      add_forward(schedule, chain[first], chain[middle]);
      self(self, middle, end);
      end = middle;
    }
  };
  spread(spread, 0, chain.size());
  return schedule;
}

inline const bool enrolled_u_torus =
    enroll_multicast({.name = "u-torus",
                      .what = "a binomial tree along the dimensions, one message after the other",
                      .needs_torus = true,
                      .make = u_torus});

/// S-torus: one worm visits all destinations along a closed walk through the torus; one phase,
/// d forwards one after the other, in single steps where every node is a destination. Source: see
/// TorusOrder.
inline Schedule s_torus(const Multicast& multicast) {
  auto schedule = empty_schedule(multicast);
  add_worm(schedule, TorusOrder(multicast.topology).of(multicast));
  return schedule;
}

inline const bool enrolled_s_torus =
    enroll_multicast({.name = "s-torus",
                      .what = "one path through all destinations by single steps",
                      .needs_torus = true,
                      .make = s_torus});

/// M_u-torus: phases in which lists of destinations are cut into parts of one length.
///
/// The order is that of the S-torus. A holder of m nodes, itself included, cuts them into r + 1
/// parts whose lengths differ by one at most, keeps the first, and sends one worm that visits the
/// heads of the r others, which take over theirs: ceil(log_{r+1} m) phases. A large r makes long
/// paths, r = 1 many phases. Source: see TorusOrder.
inline Schedule mu_torus(const Multicast& multicast) {
  const auto order = TorusOrder(multicast.topology).of(multicast);
  auto schedule = empty_schedule(multicast);
  const auto cuts = static_cast<std::size_t>(multicast.parts) + 1;
  const auto spread = [&](const auto& self, std::size_t first, std::size_t end) -> void {
    const auto count = end - first;
    if (count < 2) return;
    const auto parts = std::min(cuts, count);
    const auto head = [&](std::size_t part) {
      return first + part * (count / parts) + std::min(part, count % parts);
    };
    std::vector<int> worm;
    for (std::size_t part = 0; part < parts; ++part) worm.push_back(order[head(part)]);
    add_worm(schedule, worm);
    for (std::size_t part = 0; part < parts; ++part) self(self, head(part), head(part + 1));
  };
  spread(spread, 0, order.size());
  return schedule;
}

inline const bool enrolled_mu_torus =
    enroll_multicast({.name = "mu-torus",
                      .what = "paths to the heads of parts of one length, then within the parts",
                      .needs_torus = true,
                      .make = mu_torus});
}  // namespace nhalf::multicast
