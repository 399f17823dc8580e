// A platform of SimGrid, made from the description that NHALF_MACHINE names: one program for all
// machines. Each message's latency and rate are set by callbacks, so that within a node and by
// distance the measured or published curves hold exactly for a message that is alone; together,
// messages share the links on their way (max-min fairness).
#include <cstdlib>
#include <numeric>
#include <simgrid/kernel/resource/Model.hpp>
#include <simgrid/kernel/resource/NetworkModelIntf.hpp>

#include "simulator/broadcast.hpp"
#include "simulator/neighbours.hpp"
#include "simulator/sends.hpp"
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
using nhalf::simulator::MessageTimes;
using nhalf::simulator::Segment;
using nhalf::simulator::Spacings;
using Links = std::vector<s4u::Link*>;

/// Costs of messages by sender and receiver.
class Costs {
 public:
  /// `own_links` of every way between nodes are the nodes' own and no distance.
  Costs(const Machine& machine, std::size_t own_links)
      : machine_(machine),
        nearest_(machine.link.number("nearest", std::size_t{1}) + own_links),
        latency_s_(machine.link.number("latency_s", 0.0)) {}

  /// What a message takes on its way. Its bytes take no longer than messages of one rank were seen
  /// to be apart, as far as links are wide enough.
  [[nodiscard]] MessageTimes times(double size_bytes, const s4u::Host* from, const s4u::Host* to,
                                   const Links& way) const {
    const double own_bytes = std::max(0.0, size_bytes - envelope_bytes);
    // Something has to move.
    const double moved_bytes = std::max(1.0, own_bytes);
    const auto& curve = this->curve(from, to);
    const auto& cost = curve.at(own_bytes);
    const auto& [out, in, both] = machine_.spacings[curve.apart > 0 ? 1 : 0];
    const double alone_s = cost.latency_s + own_bytes / cost.rate_Bps;
    // A part of the curve that begins below 0 claims more for its bytes than a message takes.
    const double least_s = least_work_s(moved_bytes, way);
    const double beyond_s = std::max(least_s, cost.time_s(own_bytes) - curve.at(0).time_s(0));
    MessageTimes times{.moved_bytes = moved_bytes,
                       .work_s = std::min({alone_s, beyond_s, own_bytes / cost.rate_Bps}),
                       .is_awaited = own_bytes > machine_.eager_bytes()};
    times.busy_out_s = times.busy_in_s = std::max(curve.gap_s, times.work_s);
    if (!out.empty()) {
      times.busy_out_s = Spacings::at(out, own_bytes);
      times.work_s = std::min(times.work_s, std::max(times.busy_out_s, least_s));
    }
    if (!in.empty()) times.busy_in_s = Spacings::at(in, own_bytes);
    if (!both.empty()) {
      // Messages that the others do not slow may slow them.
      const double both_s = Spacings::at(both, own_bytes) - cost.send_s - cost.recv_s;
      times.against_s = std::max(1e-12, both_s - alone_s);
    }
    times.latency_s = alone_s - times.work_s +
                      latency_s_ * static_cast<double>(std::max(way.size(), nearest_) - nearest_);
    return times;
  }

  [[nodiscard]] const Segment& segment(double size_bytes, const s4u::Host* from,
                                       const s4u::Host* to) const {
    return curve(from, to).at(size_bytes);
  }

 private:
  /// How long bytes take that are as close behind each other as links let them be.
  static double least_work_s(double bytes, const Links& way) {
    const auto narrowest = std::ranges::min_element(way, {}, &s4u::Link::get_bandwidth);
    return narrowest == way.end() ? 0 : bytes / (*narrowest)->get_bandwidth();
  }

  [[nodiscard]] const Curve& curve(const s4u::Host* from, const s4u::Host* to) const {
    const auto a = number_of(from);
    const auto b = number_of(to);
    return machine_.between(a > b ? a - b : b - a);
  }

  /// Bytes that SMPI adds to every message; measured curves have them, too.
  static constexpr double envelope_bytes = 16;

  /// The K of node-K and node-K.R.
  static std::size_t number_of(const s4u::Host* host) {
    return std::strtoul(host->get_cname() + std::string_view("node-").size(), nullptr, 10);
  }

  const Machine& machine_;
  std::size_t nearest_;
  double latency_s_;
};

/// What a message that starts is told: how long its bytes take, and when they may move. SimGrid's
/// own factor of the bandwidth is no bound of a rate: it multiplies what links give to all who
/// share them, so that a link, however wide, would move no more for many messages than for one.
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
    MessageTimes times;
  };
  Message next;

 private:
  void apply() {
    auto* started = model_.get_started_action_set();
    if (next.from != nullptr && !started->empty()) {
      auto& action = started->back();
      // Where ranks are not told apart, a host is no rank.
      const auto rank = [this](const s4u::Host* host) {
        return next.from != next.to && host->get_actor_count() == 1 ? host : nullptr;
      };
      departures_.add(action, rank(next.from), rank(next.to), next.times);
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
    starts->next = {from, to, costs->times(size_bytes, from, to, way)};
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
