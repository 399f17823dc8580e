// Simulates one multicast: an actor for every host's CPU and one for every adapter.
#pragma once

#include <simgrid/s4u.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "multicast/bases/multicast.hpp"
#include "simulator/multicast_costs.hpp"

namespace nhalf::simulator {

/// Ways in which a node forwards a message.
enum class Forwarding {
  /// The host takes it and posts every copy to the adapter.
  host,
  /// The host takes it and posts one list, from which the adapter makes the copies.
  assisted,
  /// The adapter makes the copies from what came in, and the host takes its own beside that.
  adapter
};

/// Times of a multicast by node, 0 for nodes without a part in it.
struct MulticastOutcome {
  /// Time at which the host had received the message and posted all copies.
  std::vector<double> done_s;
  std::vector<double> host_cpu_s;
  /// Time at which the last destination's host had the message.
  double completion_s = 0;
};

/// Runs a schedule once. SimGrid has one engine in a process, so this class may have one object.
///
/// A message leaves an adapter after the one before it; while it moves it shares each link of its
/// route fairly with others (max-min), and its head adds the latency of the links passed. It comes
/// in whole before it is taken or forwarded; one that is cut into pieces does so piece by piece,
/// and each costs what a message costs.
class MulticastRun {
 public:
  /// `pieces` are the sizes in bytes into which the message is cut, one at least.
  MulticastRun(const Topology& topology, const Schedule& schedule, int source,
               const MulticastCosts& costs, Forwarding forwarding, std::vector<std::size_t> pieces)
      : topology_(topology),
        schedule_(schedule),
        source_(source),
        costs_(costs),
        forwarding_(forwarding),
        pieces_(std::move(pieces)),
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
      simgrid::s4u::Actor::create("sender", node.place, [this, name] { serve_sends(name); });
      if (number != source_)
        simgrid::s4u::Actor::create("receiver", node.place, [this, name] { serve_arrivals(name); });
    }
    engine.run();
    return outcome_;
  }

 private:
  /// A message that the host posted, or a list of copies, on the adapter from `ready_s` on.
  struct Request {
    std::vector<int> to;
    std::size_t size_bytes = 0;
    double ready_s = 0;
    /// Whether the adapter copies what came in, and not what its host posted.
    bool forwards = false;
  };

  struct Node {
    simgrid::s4u::Host* place = nullptr;
    simgrid::s4u::Mailbox* wire = nullptr;
    /// Messages that the adapter has to send, and when each received piece is available to the
    /// host.
    std::deque<Request> requests{};
    simgrid::s4u::SemaphorePtr posted = simgrid::s4u::Semaphore::create(0);
    simgrid::s4u::SemaphorePtr arrived = simgrid::s4u::Semaphore::create(0);
    std::deque<double> arrivals_s{};
    double bus_free_s = 0;
    double receive_free_s = 0;
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
    for (const auto size_bytes : pieces_) {
      if (destination) {
        node.arrived->acquire();
        simgrid::s4u::this_actor::sleep_until(node.arrivals_s.front());
        node.arrivals_s.pop_front();
        compute(number, costs_.receive_overhead_s);
        outcome_.completion_s = std::max(outcome_.completion_s, now_s());
      }
      if (!destination || forwarding_ != Forwarding::adapter) post(number, node, size_bytes);
    }
    outcome_.done_s[static_cast<std::size_t>(number)] = now_s();
  }

  /// The host gives to its adapter what has to be sent of one piece.
  void post(int number, Node& node, std::size_t size_bytes) {
    const auto& to = forwards_of(number);
    std::vector<std::vector<int>> lists;
    if (forwarding_ == Forwarding::host)
      for (const int target : to) lists.push_back({target});
    else if (!to.empty())
      lists.push_back(to);
    for (auto& list : lists) {
      compute(number, costs_.send_overhead_s);
      node.requests.push_back({std::move(list), size_bytes, over_bus(node, size_bytes), false});
      node.posted->release();
    }
  }

  /// The adapter takes what comes in, piece by piece; the next may be on the wire meanwhile.
  void serve_arrivals(int number) {
    auto& node = nodes_.at(number);
    for (const auto size_bytes : pieces_) {
      const std::unique_ptr<int> from(node.wire->get<int>());
      const auto links = static_cast<double>(topology_.route(*from, number).size());
      const double here_s = now_s() + links * costs_.link_latency_s;
      simgrid::s4u::Actor::create("arrival", node.place, [this, number, size_bytes, here_s] {
        arrive(number, size_bytes, here_s);
      });
    }
  }

  /// One piece, whose last byte is at the adapter at `here_s`, on its way to the host and on.
  void arrive(int number, std::size_t size_bytes, double here_s) {
    auto& node = nodes_.at(number);
    simgrid::s4u::this_actor::sleep_until(here_s);
    node.receive_free_s = std::max(now_s(), node.receive_free_s) + costs_.adapter_receive_s;
    simgrid::s4u::this_actor::sleep_until(node.receive_free_s);
    node.arrivals_s.push_back(over_bus(node, size_bytes));
    node.arrived->release();
    if (forwarding_ != Forwarding::adapter || forwards_of(number).empty()) return;
    node.requests.push_back({forwards_of(number), size_bytes, now_s(), true});
    node.posted->release();
  }

  /// Lets the adapter send its queue, one message after the other.
  void serve_sends(int number) {
    auto& node = nodes_.at(number);
    const auto messages = forwards_of(number).size() * pieces_.size();
    for (std::size_t sent = 0; sent < messages;) {
      node.posted->acquire();
      const auto request = std::move(node.requests.front());
      node.requests.pop_front();
      simgrid::s4u::this_actor::sleep_until(request.ready_s);
      const double prepare_s = request.forwards ? costs_.adapter_forward_s : costs_.adapter_send_s;
      for (const int target : request.to) inject(number, target, prepare_s, request.size_bytes);
      sent += request.to.size();
    }
  }

  /// The adapter prepares a message and puts it on the wire until its last byte has left.
  void inject(int from, int to, double prepare_s, std::size_t size_bytes) {
    wait(prepare_s);
    nodes_.at(to).wire->put(new int(from), size_bytes);
  }

  /// Returns when a message that requests the bus now has passed it.
  double over_bus(Node& node, std::size_t size_bytes) const {
    node.bus_free_s = std::max(now_s(), node.bus_free_s) + costs_.bus_s(size_bytes);
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
  std::vector<std::size_t> pieces_;
  std::map<int, Node> nodes_;
  MulticastOutcome outcome_;
};

}  // namespace nhalf::simulator
