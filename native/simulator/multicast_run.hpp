// SPDX-License-Identifier: Apache-2.0
// One multicast on a simulated machine: an actor for every host's CPU and one for every adapter.
#pragma once

#include <simgrid/s4u.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "multicast/bases/multicast.hpp"
#include "simulator/multicast_costs.hpp"

namespace nhalf::simulator {

/// Who does what at a node that forwards a message.
enum class Forwarding {
  /// The host takes it and posts every copy to the adapter.
  host,
  /// The host takes it and posts one list, from which the adapter makes the copies.
  assisted,
  /// The adapter makes the copies from what came in, and the host takes its own beside that.
  adapter
};

/// What happened; by node, 0 for those that had no part.
struct MulticastOutcome {
  /// When its host had taken the message and had posted what it has to.
  std::vector<double> done_s;
  std::vector<double> host_cpu_s;
  /// When the last destination's host had the message.
  double completion_s = 0;
};

/// Runs a schedule once. SimGrid has one engine in a process: so has this class one object.
///
/// A message leaves an adapter after the one before it; while it moves it shares each link of its
/// route fairly with others (max-min), and its head adds the latency of the links passed. It comes
/// in whole before it is taken or forwarded.
class MulticastRun {
 public:
  MulticastRun(const Topology& topology, const Schedule& schedule, int source,
               const MulticastCosts& costs, Forwarding forwarding, std::size_t size_bytes)
      : topology_(topology),
        schedule_(schedule),
        source_(source),
        costs_(costs),
        forwarding_(forwarding),
        size_bytes_(size_bytes),
        outcome_{.done_s = std::vector<double>(schedule.size()),
                 .host_cpu_s = std::vector<double>(schedule.size()),
                 .completion_s = 0} {}

  MulticastOutcome run() {
    // The plain model: bytes over the share of the narrowest link, nothing of TCP. Its times are
    // not rounded to the simulator's usual 1 ns.
    std::vector<std::string> words{"multicast", "--cfg=network/model:CM02",
                                   "--cfg=surf/precision:1e-15", "--log=root.thres:critical"};
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    int count = static_cast<int>(arguments.size());
    arguments.push_back(nullptr);
    simgrid::s4u::Engine engine(&count, arguments.data());
    build();
    for (auto& [number, node] : nodes_) {
      const int name = number;
      simgrid::s4u::Actor::create("host", node.place, [this, name] { serve_host(name); });
      simgrid::s4u::Actor::create("adapter", node.place, [this, name] { serve_adapter(name); });
    }
    engine.run();
    return outcome_;
  }

 private:
  /// A message that the host posted, or a list of copies, on the adapter from `ready_s` on.
  struct Request {
    std::vector<int> to;
    double ready_s = 0;
  };

  struct Node {
    simgrid::s4u::Host* place = nullptr;
    simgrid::s4u::Mailbox* wire = nullptr;
    /// What the host posted, and what came in for it.
    std::deque<Request> requests{};
    simgrid::s4u::SemaphorePtr posted = simgrid::s4u::Semaphore::create(0);
    simgrid::s4u::SemaphorePtr arrived = simgrid::s4u::Semaphore::create(0);
    double arrived_s = 0;
    double bus_free_s = 0;
  };

  static double now_s() { return simgrid::s4u::Engine::get_clock(); }

  /// Hosts and routes of those that take part, and the links that these pass.
  void build() {
    auto* zone = simgrid::s4u::create_full_zone("machine");
    const auto add = [&](int number) {
      const auto name = "node-" + std::to_string(number);
      auto& node = nodes_[number];
      node.place = zone->create_host(name, 1e9);
      node.wire = simgrid::s4u::Mailbox::by_name(name);
    };
    add(source_);
    for (const auto& forwards : schedule_)
      for (const int to : forwards) add(to);
    std::map<int, simgrid::s4u::Link*> links;
    for (const auto& [link, visits] : link_visits(topology_, schedule_))
      links[link] = zone->create_link("link-" + std::to_string(link), costs_.link_Bps)
                        ->set_latency(0)
                        ->seal();
    for (const auto& [from, node] : nodes_)
      for (const int to : forwards_of(from)) {
        std::vector<simgrid::s4u::LinkInRoute> route;
        for (const int link : topology_.route(from, to)) route.emplace_back(links.at(link));
        zone->add_route(node.place->get_netpoint(), nodes_.at(to).place->get_netpoint(), nullptr,
                        nullptr, route, false);
      }
    zone->seal();
  }

  [[nodiscard]] const std::vector<int>& forwards_of(int node) const {
    return schedule_[static_cast<std::size_t>(node)];
  }

  void serve_host(int number) {
    auto& node = nodes_.at(number);
    const bool destination = number != source_;
    if (destination) {
      node.arrived->acquire();
      simgrid::s4u::this_actor::sleep_until(node.arrived_s);
      compute(number, costs_.receive_overhead_s);
      outcome_.completion_s = std::max(outcome_.completion_s, now_s());
    }
    if (!destination || forwarding_ != Forwarding::adapter) post(number, node);
    outcome_.done_s[static_cast<std::size_t>(number)] = now_s();
  }

  /// The host gives to its adapter what has to be sent.
  void post(int number, Node& node) {
    const auto& to = forwards_of(number);
    std::vector<std::vector<int>> lists;
    if (forwarding_ == Forwarding::host)
      for (const int one : to) lists.push_back({one});
    else if (!to.empty())
      lists.push_back(to);
    for (auto& list : lists) {
      compute(number, costs_.send_overhead_s);
      node.requests.push_back({std::move(list), over_bus(node)});
      node.posted->release();
    }
  }

  void serve_adapter(int number) {
    auto& node = nodes_.at(number);
    const bool destination = number != source_;
    if (destination) {
      const std::unique_ptr<int> from(node.wire->get<int>());
      const auto links = static_cast<double>(topology_.route(*from, number).size());
      wait(links * costs_.link_latency_s + costs_.adapter_receive_s);
      node.arrived_s = over_bus(node);
      node.arrived->release();
    }
    const auto& to = forwards_of(number);
    if (destination && forwarding_ == Forwarding::adapter) {
      for (const int one : to) inject(number, one, costs_.adapter_forward_s);
      return;
    }
    for (std::size_t sent = 0; sent < to.size();) {
      node.posted->acquire();
      const auto request = std::move(node.requests.front());
      node.requests.pop_front();
      simgrid::s4u::this_actor::sleep_until(request.ready_s);
      for (const int one : request.to) inject(number, one, costs_.adapter_send_s);
      sent += request.to.size();
    }
  }

  /// The adapter prepares a message and puts it on the wire until its last byte has left.
  void inject(int from, int to, double prepare_s) {
    wait(prepare_s);
    nodes_.at(to).wire->put(new int(from), size_bytes_);
  }

  /// When a message that wants the bus now has passed it.
  double over_bus(Node& node) const {
    node.bus_free_s = std::max(now_s(), node.bus_free_s) + costs_.bus_s(size_bytes_);
    return node.bus_free_s;
  }

  void compute(int number, double time_s) {
    wait(time_s);
    outcome_.host_cpu_s[static_cast<std::size_t>(number)] += time_s;
  }

  static void wait(double time_s) {
    if (time_s > 0) simgrid::s4u::this_actor::sleep_for(time_s);
  }

  const Topology& topology_;
  const Schedule& schedule_;
  int source_;
  MulticastCosts costs_;
  Forwarding forwarding_;
  std::size_t size_bytes_;
  std::map<int, Node> nodes_;
  MulticastOutcome outcome_;
};

}  // namespace nhalf::simulator
