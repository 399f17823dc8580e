#pragma once

#include "multicast/bases/multicast.hpp"

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
}  // namespace nhalf::multicast
