// SPDX-License-Identifier: Apache-2.0
// A platform of SimGrid, made from the description that NHALF_MACHINE names: one program for all
// machines. Each message's latency and rate are set by callbacks, so that within a node and by
// distance the measured or published curves hold exactly for a message that is alone; together,
// messages share the links on their way (max-min fairness).

#include <smpi/smpi.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <simgrid/kernel/resource/Model.hpp>
#include <simgrid/kernel/resource/NetworkModelIntf.hpp>
#include <simgrid/s4u.hpp>

#include "simulator/machine.hpp"
#include "simulator/neighbours.hpp"

namespace simgrid::kernel::activity {

/// What is used here of a class of SimGrid whose header is not installed.
class CommImpl {
 public:
  static xbt::signal<void(const CommImpl&)> on_start;
};

}  // namespace simgrid::kernel::activity

namespace {

namespace s4u = simgrid::s4u;
using nhalf::simulator::Machine;
using nhalf::simulator::numbers;
using nhalf::simulator::Segment;
using Links = std::vector<s4u::Link*>;

/// Builds the hosts node-0, node-1, ... and what joins them.
class Platform {
 public:
  explicit Platform(const Machine& machine)
      : machine_(machine),
        link_Bps_(machine.link.number("bandwidth_Bps", 1e9)),
        latency_s_(std::max(least_s, machine.link.number("latency_s", 0.0))),
        adapter_Bps_(machine.link.number("adapter_Bps", 0.0)),
        memory_Bps_(machine.node.number("bandwidth_Bps", 1e9)),
        policy_(machine.link.number("duplex", 1) != 0 ? s4u::Link::SharingPolicy::SPLITDUPLEX
                                                      : s4u::Link::SharingPolicy::SHARED) {}

  void build() const {
    const auto kind = machine_.topology.text("kind");
    const auto callbacks = leaves();
    if (kind == "torus") {
      s4u::create_torus_zone("machine", nullptr, list<unsigned long>("dimensions"), callbacks,
                             link_Bps_, latency_s_, policy_)
          ->seal();
    } else if (kind == "fat-tree") {
      const auto down = list<unsigned int>("down");
      const s4u::FatTreeParams parameters(static_cast<unsigned int>(down.size()), down,
                                          list<unsigned int>("up"), list<unsigned int>("cables"));
      s4u::create_fatTree_zone("machine", nullptr, parameters, callbacks, link_Bps_, latency_s_,
                               policy_)
          ->seal();
    } else if (kind == "direct") {
      direct();
    } else {
      star();
    }
  }

  /// Links on a way that are the nodes' own and no distance; in a star the adapter is in the link.
  [[nodiscard]] std::size_t own_links() const {
    return adapter_Bps_ > 0 && machine_.topology.text("kind") != "star" ? 2 : 0;
  }

 private:
  template <class Number>
  [[nodiscard]] std::vector<Number> list(const std::string& name) const {
    return numbers<Number>(machine_.topology.text(name));
  }

  static std::string name_of(unsigned long id) { return "node-" + std::to_string(id); }

  using Coordinates = std::vector<unsigned long>;
  using Ends = std::pair<simgrid::kernel::routing::NetPoint*, simgrid::kernel::routing::NetPoint*>;

  /// What hangs at the ends of a tree or a torus: plain hosts, which are found faster, unless an
  /// adapter stands before each.
  [[nodiscard]] s4u::ClusterCallbacks leaves() const {
    if (adapter_Bps_ > 0)
      return s4u::ClusterCallbacks(
          [this](s4u::NetZone* zone, const Coordinates&, unsigned long id) {
            return host_behind_adapter(zone, id);
          });
    return {[](s4u::NetZone* zone, const Coordinates&, unsigned long id) {
              return Ends{zone->create_host(name_of(id), 1e9)->seal()->get_netpoint(), nullptr};
            },
            [this](s4u::NetZone* zone, const Coordinates&, unsigned long id) {
              return memory(zone, id);
            },
            {}};
  }

  /// The way of a node to itself.
  s4u::Link* memory(s4u::NetZone* zone, unsigned long id) const {
    return zone->create_link("memory-" + std::to_string(id), memory_Bps_)
        ->set_latency(least_s)
        ->seal();
  }

  /// A host in a zone of its own: a cable to its zone's router is its adapter.
  Ends host_behind_adapter(s4u::NetZone* parent, unsigned long id) const {
    auto* zone = s4u::create_star_zone("zone-" + std::to_string(id));
    zone->set_parent(parent);
    auto* router = zone->create_router("router-" + std::to_string(id));
    add_host(zone, id, adapter_Bps_, least_s);
    zone->seal();
    return {zone->get_netpoint(), router};
  }

  void star() const {
    auto* zone = s4u::create_star_zone("machine");
    const auto count = machine_.node.number("count", 1UL);
    const double rate_Bps = adapter_Bps_ > 0 ? std::min(adapter_Bps_, link_Bps_) : link_Bps_;
    for (unsigned long id = 0; id < count; ++id) add_host(zone, id, rate_Bps, latency_s_);
    zone->seal();
  }

  /// A link of its own between every two nodes.
  void direct() const {
    auto* zone = s4u::create_full_zone("machine");
    std::vector<simgrid::kernel::routing::NetPoint*> nodes;
    for (unsigned long id = 0; id < machine_.node.number("count", 1UL); ++id) {
      auto* node = zone->create_host(name_of(id), 1e9)->seal()->get_netpoint();
      zone->add_route(node, node, nullptr, nullptr, {s4u::LinkInRoute(memory(zone, id))}, false);
      for (std::size_t other = 0; other < nodes.size(); ++other) {
        const auto name = "link-" + std::to_string(other) + "-" + std::to_string(id);
        auto* link = zone->create_split_duplex_link(name, link_Bps_);
        link->set_latency(latency_s_)->seal();
        zone->add_route(nodes[other], node, nullptr, nullptr,
                        {s4u::LinkInRoute(link, s4u::LinkInRoute::Direction::UP)}, true);
      }
      nodes.push_back(node);
    }
    zone->seal();
  }

  /// A host that a link of this rate joins to its zone.
  void add_host(s4u::NetZone* zone, unsigned long id, double rate_Bps, double latency_s) const {
    auto* host = zone->create_host(name_of(id), 1e9)->seal();
    zone->add_route(host->get_netpoint(), host->get_netpoint(), nullptr, nullptr,
                    {s4u::LinkInRoute(memory(zone, id))}, false);
    if (policy_ == s4u::Link::SharingPolicy::SPLITDUPLEX) {
      auto* link = zone->create_split_duplex_link("link-" + std::to_string(id), rate_Bps);
      link->set_latency(latency_s)->seal();
      zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr,
                      {s4u::LinkInRoute(link, s4u::LinkInRoute::Direction::UP)}, true);
    } else {
      auto* link = zone->create_link("link-" + std::to_string(id), rate_Bps);
      link->set_latency(latency_s)->seal();
      zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr, {s4u::LinkInRoute(link)},
                      true);
    }
  }

  static constexpr double least_s = 1e-9;

  const Machine& machine_;
  double link_Bps_, latency_s_, adapter_Bps_, memory_Bps_;
  s4u::Link::SharingPolicy policy_;
};

/// What messages cost, by who sends to whom.
class Costs {
 public:
  /// `own_links` of every way between nodes are the nodes' own and no distance.
  Costs(const Machine& machine, std::size_t own_links)
      : machine_(machine),
        nearest_(machine.link.number("nearest", std::size_t{1}) + own_links),
        latency_s_(machine.link.number("latency_s", 0.0)) {}

  [[nodiscard]] double latency_factor(double size_bytes, const s4u::Host* from, const s4u::Host* to,
                                      const Links& way) const {
    double way_s = 0;
    for (const auto* link : way) way_s += link->get_latency();
    const auto& cost = segment(size_bytes - envelope_bytes, from, to);
    double wanted_s = std::max(0.0, cost.latency_s - envelope_bytes / cost.rate_Bps);
    if (way.size() > nearest_) wanted_s += latency_s_ * static_cast<double>(way.size() - nearest_);
    return way_s > 0 ? wanted_s / way_s : 0;
  }

  /// The most that a message moves, alone on its way; 0 for no bound but the way's own.
  [[nodiscard]] double rate_Bps(double size_bytes, const s4u::Host* from,
                                const s4u::Host* to) const {
    const double rate_Bps = segment(size_bytes - envelope_bytes, from, to).rate_Bps;
    return std::isfinite(rate_Bps) ? rate_Bps : 0;
  }

  [[nodiscard]] const Segment& segment(double size_bytes, const s4u::Host* from,
                                       const s4u::Host* to) const {
    const auto a = number_of(from);
    const auto b = number_of(to);
    return machine_.between(a > b ? a - b : b - a).at(size_bytes);
  }

 private:
  /// What SMPI adds to every message; measured curves have it in their latency.
  static constexpr double envelope_bytes = 16;

  /// The K of node-K.
  static std::size_t number_of(const s4u::Host* host) {
    return std::strtoul(host->get_cname() + std::string_view("node-").size(), nullptr, 10);
  }

  const Machine& machine_;
  std::size_t nearest_;
  double latency_s_;
};

/// Bounds the rate of each message when it starts. SimGrid's own factor of the bandwidth is not
/// that: it multiplies what links give to all who share them, so that a link, however wide, would
/// move no more for many messages than for one.
class Bounds {
 public:
  explicit Bounds(simgrid::kernel::resource::NetworkModelIntf& network)
      : model_(dynamic_cast<simgrid::kernel::resource::Model&>(network)) {
    simgrid::kernel::activity::CommImpl::on_start.connect(
        [this](const simgrid::kernel::activity::CommImpl&) { apply(); });
  }

  /// Of the message that starts next.
  void set(double rate_Bps) { next_Bps_ = rate_Bps; }

 private:
  void apply() {
    auto* started = model_.get_started_action_set();
    if (next_Bps_ > 0 && !started->empty()) started->back().set_bound(next_Bps_);
    next_Bps_ = 0;
  }

  simgrid::kernel::resource::Model& model_;
  double next_Bps_ = 0;
};

void set_costs(const s4u::Engine& engine, const std::shared_ptr<const Costs>& costs) {
  auto* network = engine.get_netzone_root()->get_network_model();
  using Zones = std::unordered_set<s4u::NetZone*>;
  network->set_lat_factor_cb(
      [costs](double size_bytes, const s4u::Host* from, const s4u::Host* to, const Links& way,
              const Zones&) { return costs->latency_factor(size_bytes, from, to, way); });
  const auto bounds = std::make_shared<Bounds>(*network);
  network->set_bw_factor_cb([costs, bounds](double size_bytes, const s4u::Host* from,
                                            const s4u::Host* to, const Links&, const Zones&) {
    bounds->set(costs->rate_Bps(size_bytes, from, to));
    return 1.0;
  });
  const auto send_s = [costs](std::size_t size_bytes, s4u::Host* from, s4u::Host* to) {
    return costs->segment(static_cast<double>(size_bytes), from, to).send_s;
  };
  smpi_register_op_cost_callback(SmpiOperation::SEND, send_s);
  smpi_register_op_cost_callback(SmpiOperation::ISEND, send_s);
  smpi_register_op_cost_callback(
      SmpiOperation::RECV, [costs](std::size_t size_bytes, s4u::Host* from, s4u::Host* to) {
        return costs->segment(static_cast<double>(size_bytes), from, to).recv_s;
      });
}

}  // namespace

extern "C" void load_platform(const s4u::Engine& engine);

void load_platform(const s4u::Engine& engine) {
  const char* path = std::getenv("NHALF_MACHINE");
  if (path == nullptr) throw nhalf::InputError("NHALF_MACHINE names no description of a machine");
  static const auto machine = Machine::read(path);
  const Platform platform(machine);
  platform.build();
  set_costs(engine, std::make_shared<const Costs>(machine, platform.own_links()));
}
