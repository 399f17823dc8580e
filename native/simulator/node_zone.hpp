// A simulated node of several ranks, each a host, and the links that their messages share.
#pragma once

#include <simgrid/s4u.hpp>

#include "simulator/machine.hpp"

namespace nhalf::simulator {
/// Builds nodes. Its first rank's host is node-K, the next ones are node-K.1, node-K.2, ...; the
/// nodes' way into the network is a router. What ranks share are links that their messages pass on
/// their way: twice where both ranks of a message share the same one, so that it counts where it
/// leaves and where it arrives.
class NodeZones {
 public:
  using NetPoint = simgrid::kernel::routing::NetPoint;

  explicit NodeZones(const Machine& machine)
      : machine_(machine), ranks_(machine.node.number("ranks", std::size_t{1})) {}

  /// Nothing is between the only host of a node and the network.
  [[nodiscard]] bool are_plain() const { return ranks_ == 1 && machine_.shares.empty(); }

  /// Links on a way between nodes that are the nodes' own and no distance.
  [[nodiscard]] std::size_t own_links() const {
    std::size_t count = 0;
    for (const auto& share : machine_.shares)
      count += (share.one_way_Bps > 0 ? 2 : 0) + (share.both_ways_Bps > 0 ? 2 : 0);
    return count + (machine_.medium_Bps() > 0 ? 1 : 0);
  }

  /// A new node: its place in the zone, and its router.
  std::pair<NetPoint*, NetPoint*> add(simgrid::s4u::NetZone* parent, unsigned long id) {
    if (machine_.medium_Bps() > 0 && medium_ == nullptr)
      medium_ = parent->create_link("medium", machine_.medium_Bps())->seal();
    auto* zone = simgrid::s4u::create_full_zone("zone-" + std::to_string(id));
    zone->set_parent(parent);
    auto* router = zone->create_router("router-" + std::to_string(id));
    std::vector<NetPoint*> hosts;
    for (std::size_t rank = 0; rank < ranks_; ++rank)
      hosts.push_back(zone->create_host(name_of(id, rank), 1e9)->seal()->get_netpoint());
    route(zone, id, hosts, router);
    zone->seal();
    return {zone->get_netpoint(), router};
  }

 private:
  using Zone = simgrid::s4u::NetZone;
  using Link = simgrid::s4u::Link;
  using Route = std::vector<simgrid::s4u::LinkInRoute>;
  using Direction = simgrid::s4u::LinkInRoute::Direction;

  /// The links of one share of one group of ranks; none where a rate is not bounded.
  struct Shared {
    const Share* share;
    simgrid::s4u::SplitDuplexLink* one_way = nullptr;
    Link* both_ways = nullptr;
  };

  static std::string name_of(unsigned long id, std::size_t rank) {
    return "node-" + std::to_string(id) + (rank > 0 ? "." + std::to_string(rank) : "");
  }

  /// Creates the resources that each rank of a node shares with others.
  std::vector<std::vector<Shared>> links(Zone* zone, unsigned long id) const {
    std::vector<std::vector<Shared>> of(ranks_);
    for (std::size_t place = 0; place < machine_.shares.size(); ++place) {
      const auto& share = machine_.shares[place];
      const auto together = share.ranks > 0 ? std::min(share.ranks, ranks_) : ranks_;
      for (std::size_t first = 0; first < ranks_; first += together) {
        Shared resource{&share};
        const auto name =
            "-" + std::to_string(place) + "-" + std::to_string(id) + "-" + std::to_string(first);
        if (share.one_way_Bps > 0) {
          resource.one_way = zone->create_split_duplex_link(
              "one-way" + name, machine_.own_Bps(share.one_way_Bps, share.ranks));
          resource.one_way->seal();
        }
        if (share.both_ways_Bps > 0)
          resource.both_ways = zone->create_link("both-ways" + name, share.both_ways_Bps)->seal();
        for (auto rank = first; rank < std::min(ranks_, first + together); ++rank)
          of[rank].push_back(resource);
      }
    }
    return of;
  }

  static void pass(Route& route, const std::vector<Shared>& shared, bool leaves_node,
                   Direction direction) {
    for (const auto& resource : shared) {
      if (resource.share->away && !leaves_node) continue;
      if (resource.one_way != nullptr) route.emplace_back(resource.one_way, direction);
      if (resource.both_ways != nullptr) route.emplace_back(resource.both_ways);
    }
  }

  void route(Zone* zone, unsigned long id, const std::vector<NetPoint*>& hosts,
             NetPoint* router) const {
    const auto shared = links(zone, id);
    const Link* memory = zone->create_link("memory-" + std::to_string(id),
                                           machine_.node.number("bandwidth_Bps", 1e9))
                             ->seal();
    for (std::size_t from = 0; from < ranks_; ++from) {
      for (std::size_t to = 0; to < ranks_; ++to) {
        Route within;
        if (from != to) pass(within, shared[from], false, Direction::UP);
        within.emplace_back(memory);
        if (from != to) pass(within, shared[to], false, Direction::DOWN);
        zone->add_route(hosts[from], hosts[to], nullptr, nullptr, within, false);
      }
      Route out, in;
      pass(out, shared[from], true, Direction::UP);
      if (medium_ != nullptr) out.emplace_back(medium_);
      pass(in, shared[from], true, Direction::DOWN);
      zone->add_route(hosts[from], router, nullptr, nullptr, out, false);
      zone->add_route(router, hosts[from], nullptr, nullptr, in, false);
    }
  }

  const Machine& machine_;
  std::size_t ranks_;
  Link* medium_ = nullptr;
};
}  // namespace nhalf::simulator
