// Builds the network of a simulated machine by the kind of its topology.
#pragma once

#include "simulator/node_zone.hpp"

namespace nhalf::simulator {
namespace s4u = simgrid::s4u;

/// Builds the nodes and the links between them.
class Wiring {
 public:
  explicit Wiring(const Machine& machine)
      : machine_(machine),
        nodes_(machine),
        link_Bps_(machine.link.number("bandwidth_Bps", 1e9)),
        memory_Bps_(machine.node.number("bandwidth_Bps", 1e9)),
        policy_(machine.link.number("duplex", 1) != 0 ? s4u::Link::SharingPolicy::SPLITDUPLEX
                                                      : s4u::Link::SharingPolicy::SHARED) {}

  void build() {
    const auto kind = machine_.topology.text("kind");
    if (kind == "torus") {
      s4u::create_torus_zone("machine", nullptr, list<unsigned long>("dimensions"), leaves(),
                             link_Bps_, 0, policy_)
          ->seal();
    } else if (kind == "fat-tree" && machine_.topology.text("route") == "switch") {
      tree_of_switches();
    } else if (kind == "fat-tree") {
      const auto down = list<unsigned int>("down");
      const s4u::FatTreeParams parameters(static_cast<unsigned int>(down.size()), down,
                                          list<unsigned int>("up"), list<unsigned int>("cables"));
      s4u::create_fatTree_zone("machine", nullptr, parameters, leaves(), link_Bps_, 0, policy_)
          ->seal();
      if (policy_ == s4u::Link::SharingPolicy::SPLITDUPLEX) widen_leaf_cables();
    } else if (kind == "direct") {
      direct();
    } else {
      star();
    }
  }

  /// Links on a way that are the nodes' own and no distance.
  [[nodiscard]] std::size_t own_links() const { return nodes_.own_links(); }

 private:
  using Coordinates = std::vector<unsigned long>;
  using NetPoint = simgrid::kernel::routing::NetPoint;
  using Ends = std::pair<NetPoint*, NetPoint*>;

  template <class Number>
  [[nodiscard]] std::vector<Number> list(const std::string& name) const {
    return numbers<Number>(machine_.topology.text(name));
  }

  /// Returns the leaves of a tree or a torus: plain hosts, whose lookup is faster, or zones.
  [[nodiscard]] s4u::ClusterCallbacks leaves() {
    if (!nodes_.are_plain())
      return s4u::ClusterCallbacks([this](s4u::NetZone* zone, const Coordinates&,
                                          unsigned long id) { return nodes_.add(zone, id); });
    return {[](s4u::NetZone* zone, const Coordinates&, unsigned long id) {
              return Ends{host(zone, id)->get_netpoint(), nullptr};
            },
            [this](s4u::NetZone* zone, const Coordinates&, unsigned long id) {
              return memory(zone, id);
            },
            {}};
  }

  static s4u::Host* host(s4u::NetZone* zone, unsigned long id) {
    return zone->create_host("node-" + std::to_string(id), 1e9)->seal();
  }

  /// The way of a plain node to itself.
  s4u::Link* memory(s4u::NetZone* zone, unsigned long id) const {
    return zone->create_link("memory-" + std::to_string(id), memory_Bps_)->seal();
  }

  /// A node in a zone where it has routes of its own; nothing but itself where it is plain.
  Ends node(s4u::NetZone* zone, unsigned long id) {
    if (!nodes_.are_plain()) return nodes_.add(zone, id);
    auto* point = host(zone, id)->get_netpoint();
    zone->add_route(point, point, nullptr, nullptr, {s4u::LinkInRoute(memory(zone, id))}, false);
    return {point, nullptr};
  }

  void star() {
    auto* zone = s4u::create_star_zone("machine");
    const auto count = machine_.node.number("count", 1UL);
    for (unsigned long id = 0; id < count; ++id) attach(zone, id);
    zone->seal();
  }

  /// A node at the end of a link of its own.
  void attach(s4u::NetZone* zone, unsigned long id) {
    const auto [place, router] = node(zone, id);
    zone->add_route(place, nullptr, router, nullptr,
                    {cable(zone, "link-" + std::to_string(id), machine_.own_Bps(link_Bps_))}, true);
  }

  /// A new link as it leads up.
  s4u::LinkInRoute cable(s4u::NetZone* zone, const std::string& name, double rate_Bps) const {
    if (policy_ == s4u::Link::SharingPolicy::SHARED)
      return s4u::LinkInRoute(zone->create_link(name, link_Bps_)->seal());
    auto* link = zone->create_split_duplex_link(name, rate_Bps);
    link->seal();
    return {link, s4u::LinkInRoute::Direction::UP};
  }

  /// SimGrid's trees have cables of one rate. Its names of them begin with the number below, and
  /// nodes are numbered first.
  void widen_leaf_cables() const {
    const std::string start = "link_from_";
    const auto nodes = machine_.node.number("count", 1UL);
    const auto is_of_node = [&](const s4u::Link* link) {
      const auto& name = link->get_name();
      return name.starts_with(start) && std::stoul(name.substr(start.size())) < nodes;
    };
    for (auto* link : s4u::Engine::get_instance()->get_filtered_links(is_of_node))
      link->set_bandwidth(machine_.own_Bps(link_Bps_));
  }

  /// A link of its own between every two nodes.
  void direct() {
    auto* zone = s4u::create_full_zone("machine");
    std::vector<Ends> nodes;
    for (unsigned long id = 0; id < machine_.node.number("count", 1UL); ++id) {
      nodes.push_back(node(zone, id));
      for (std::size_t peer = 0; peer < id; ++peer)
        zone->add_route(
            nodes[peer].first, nodes[id].first, nodes[peer].second, nodes[id].second,
            {cable(zone, "link-" + std::to_string(peer) + "-" + std::to_string(id), link_Bps_)},
            true);
    }
    zone->seal();
  }

  /// Two levels; which of its cables a leaf switch takes depends on both leaf switches.
  void tree_of_switches() {
    const auto down = list<unsigned long>("down");
    const auto cables = list<unsigned long>("up").at(1) * list<unsigned long>("cables").at(1);
    auto* top = s4u::create_full_zone("machine");
    std::vector<Ends> leaves;
    std::vector<std::vector<s4u::LinkInRoute>> up;
    for (unsigned long leaf = 0; leaf < down.at(1); ++leaf) {
      const auto name = std::to_string(leaf);
      auto* zone = s4u::create_star_zone("leaf-" + name);
      zone->set_parent(top);
      auto* router = own_switch(zone, name);
      for (unsigned long id = 0; id < down[0]; ++id) attach(zone, leaf * down[0] + id);
      zone->seal();
      leaves.emplace_back(zone->get_netpoint(), router);
      auto& mine = up.emplace_back();
      for (unsigned long number = 0; number < cables; ++number)
        mine.push_back(cable(top, "cable-" + name + "-" + std::to_string(number), link_Bps_));
      for (unsigned long peer = 0; peer < leaf; ++peer) {
        const auto number = (leaf + peer) % cables;
        const auto way = [&](unsigned long from, unsigned long to) {
          top->add_route(leaves[from].first, leaves[to].first, leaves[from].second,
                         leaves[to].second, {up[from][number], reversed(up[to][number])}, false);
        };
        way(leaf, peer);
        way(peer, leaf);
      }
    }
    top->seal();
  }

  /// A switch in a zone of its own: to one beside the nodes' zones SimGrid leaves out what lies
  /// within these.
  static NetPoint* own_switch(s4u::NetZone* zone, const std::string& name) {
    auto* place = s4u::create_full_zone("switches-" + name);
    place->set_parent(zone);
    auto* router = place->create_router("switch-" + name);
    place->seal();
    zone->add_route(place->get_netpoint(), nullptr, router, nullptr,
                    std::vector<s4u::LinkInRoute>{}, true);
    return router;
  }

  static s4u::LinkInRoute reversed(const s4u::LinkInRoute& link) {
    if (link.get_direction() != s4u::LinkInRoute::Direction::UP) return link;
    return {link.get_link(), s4u::LinkInRoute::Direction::DOWN};
  }

  const Machine& machine_;
  NodeZones nodes_;
  double link_Bps_, memory_Bps_;
  s4u::Link::SharingPolicy policy_;
};
}  // namespace nhalf::simulator
