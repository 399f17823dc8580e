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

#include "simulator/broadcast.hpp"
#include "simulator/departures.hpp"
#include "simulator/machine.hpp"
#include "simulator/neighbours.hpp"
#include "simulator/wiring.hpp"

namespace simgrid::kernel::activity {

/// The part of a class of SimGrid that is used here; its header is not installed.
class CommImpl {
 public:
  static xbt::signal<void(const CommImpl&)> on_start;
};

}  // namespace simgrid::kernel::activity

namespace {

namespace s4u = simgrid::s4u;
using nhalf::simulator::Curve;
using nhalf::simulator::Machine;
using nhalf::simulator::Segment;
using Links = std::vector<s4u::Link*>;

/// Costs of messages by sender and receiver.
class Costs {
 public:
  /// `own_links` of every way between nodes are the nodes' own and no distance.
  Costs(const Machine& machine, std::size_t own_links)
      : machine_(machine),
        nearest_(machine.link.number("nearest", std::size_t{1}) + own_links),
        latency_s_(machine.link.number("latency_s", 0.0)) {}

  /// What passes before the bytes of a message move, on a way of so many links.
  [[nodiscard]] double latency_s(double size_bytes, const s4u::Host* from, const s4u::Host* to,
                                 std::size_t links) const {
    const auto& cost = segment(size_bytes - envelope_bytes, from, to);
    const double message_s = std::max(0.0, cost.latency_s - envelope_bytes / cost.rate_Bps);
    return message_s + latency_s_ * static_cast<double>(std::max(links, nearest_) - nearest_);
  }

  /// The most that a message moves, alone on its way; 0 for no bound but the way's own.
  [[nodiscard]] double rate_Bps(double size_bytes, const s4u::Host* from,
                                const s4u::Host* to) const {
    const double rate_Bps = segment(size_bytes - envelope_bytes, from, to).rate_Bps;
    return std::isfinite(rate_Bps) ? rate_Bps : 0;
  }

  [[nodiscard]] const Segment& segment(double size_bytes, const s4u::Host* from,
                                       const s4u::Host* to) const {
    return curve(from, to).at(size_bytes);
  }

  /// How far messages of a host are apart at least.
  [[nodiscard]] double gap_s(const s4u::Host* from, const s4u::Host* to) const {
    return curve(from, to).gap_s;
  }

 private:
  [[nodiscard]] const Curve& curve(const s4u::Host* from, const s4u::Host* to) const {
    const auto a = number_of(from);
    const auto b = number_of(to);
    return machine_.between(a > b ? a - b : b - a);
  }

  /// Bytes that SMPI adds to every message; measured curves include them in their latency.
  static constexpr double envelope_bytes = 16;

  /// The K of node-K and node-K.R.
  static std::size_t number_of(const s4u::Host* host) {
    return std::strtoul(host->get_cname() + std::string_view("node-").size(), nullptr, 10);
  }

  const Machine& machine_;
  std::size_t nearest_;
  double latency_s_;
};

/// What a message that starts is told: its rate, and when its bytes may move. SimGrid's own factor
/// of the bandwidth is no bound of a rate: it multiplies what links give to all who share them, so
/// that a link, however wide, would move no more for many messages than for one.
class Starts {
 public:
  explicit Starts(simgrid::kernel::resource::NetworkModelIntf& network)
      : model_(dynamic_cast<simgrid::kernel::resource::Model&>(network)) {
    simgrid::kernel::activity::CommImpl::on_start.connect(
        [this](const simgrid::kernel::activity::CommImpl&) { apply(); });
  }

  /// What is said of the message that starts next.
  struct Message {
    const s4u::Host* from = nullptr;
    const s4u::Host* to = nullptr;
    double latency_s = 0;
    double rate_Bps = 0;
    double gap_s = 0;
  };
  Message next;

 private:
  void apply() {
    auto* started = model_.get_started_action_set();
    if (next.from != nullptr && !started->empty()) {
      auto& action = started->back();
      if (next.rate_Bps > 0) action.set_bound(next.rate_Bps);
      // Where ranks are not told apart, a host is no rank.
      const bool from_rank = next.from != next.to && next.from->get_actor_count() == 1;
      departures_.add(action, from_rank ? next.from : nullptr, next.latency_s, next.gap_s);
    }
    next = {};
  }

  simgrid::kernel::resource::Model& model_;
  nhalf::simulator::Departures departures_;
};

void set_costs(const s4u::Engine& engine, const std::shared_ptr<const Costs>& costs) {
  auto* network = engine.get_netzone_root()->get_network_model();
  using Zones = std::unordered_set<s4u::NetZone*>;
  const auto starts = std::make_shared<Starts>(*network);
  network->set_lat_factor_cb(
      [](double, const s4u::Host*, const s4u::Host*, const Links&, const Zones&) { return 0.0; });
  network->set_bw_factor_cb([costs, starts](double size_bytes, const s4u::Host* from,
                                            const s4u::Host* to, const Links& way, const Zones&) {
    starts->next = {from, to, costs->latency_s(size_bytes, from, to, way.size()),
                    costs->rate_Bps(size_bytes, from, to), costs->gap_s(from, to)};
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
  nhalf::simulator::Wiring wiring(machine);
  wiring.build();
  set_costs(engine, std::make_shared<const Costs>(machine, wiring.own_links()));
}
