// What a multicast is: who forwards to whom, and the list of ways to do it.
#pragma once

#include "multicast/bases/topology.hpp"

namespace nhalf {
/// By node, to whom it forwards the message once it has it, in this order.
using Schedule = std::vector<std::vector<int>>;

/// One node's message to several others. Destinations are different nodes, none is the source.
struct Multicast {
  const Topology& topology;
  int source = 0;
  std::vector<int> destinations;
  /// Into how many parts beside its own a holder cuts its list, for those that cut it: 1 or more.
  int parts = 1;
};

/// A way to multicast. Where `make` throws InputError, it is none on such a topology.
struct MulticastInfo {
  std::string_view name;
  std::string_view what;
  /// Whether it goes by the places of nodes on a torus; the others know nodes by number only.
  bool needs_torus = false;
  Schedule (*make)(const Multicast& multicast) = nullptr;
};

/// Every way to multicast that is compiled into this program, by name.
inline std::vector<MulticastInfo>& multicasts() {
  static std::vector<MulticastInfo> all;
  return all;
}

/// Adds one, keeping the list sorted by name; ends every file in multicast/.
inline bool enroll_multicast(const MulticastInfo& info) {
  auto& all = multicasts();
  all.insert(std::ranges::lower_bound(all, info.name, {}, &MulticastInfo::name), info);
  return true;
}

/// The source, then its destinations as their numbers follow its own, round to the first.
inline std::vector<int> in_order(const Multicast& multicast) {
  const int nodes = multicast.topology.nodes();
  std::vector<int> order{multicast.source};
  order.insert(order.end(), multicast.destinations.begin(), multicast.destinations.end());
  std::ranges::sort(order, {}, [&](int node) { return (node - multicast.source + nodes) % nodes; });
  return order;
}

/// Nobody forwards anything yet.
inline Schedule empty_schedule(const Multicast& multicast) {
  return Schedule(static_cast<std::size_t>(multicast.topology.nodes()));
}

/// Adds a message to a schedule, after those that its sender has to send already.
inline void add_forward(Schedule& schedule, int from, int to) {
  schedule[static_cast<std::size_t>(from)].push_back(to);
}

/// Adds a worm: the message passes along a path of nodes, the first of which has it. In software
/// every node that it visits takes a copy and forwards it.
inline void add_worm(Schedule& schedule, const std::vector<int>& path) {
  for (std::size_t i = 1; i < path.size(); ++i) add_forward(schedule, path[i - 1], path[i]);
}

/// By node the step in which it gets the message where a node sends one message in a step: 0 for
/// the source, -1 for nodes that it does not reach. A node that is reached twice keeps the last.
inline std::vector<int> steps_of(const Schedule& schedule, int source) {
  std::vector<int> steps(schedule.size(), -1);
  steps[static_cast<std::size_t>(source)] = 0;
  std::vector<int> holders{source};
  for (std::size_t next = 0; next < holders.size() && next <= schedule.size(); ++next) {
    const auto from = static_cast<std::size_t>(holders[next]);
    int step = steps[from];
    for (const int to : schedule[from]) {
      steps[static_cast<std::size_t>(to)] = ++step;
      holders.push_back(to);
    }
  }
  return steps;
}

/// By link, how often the messages of a schedule pass it; links that none passes are not there.
inline std::map<network::Link, int> link_visits(const Topology& topology,
                                                const Schedule& schedule) {
  std::map<network::Link, int> visits;
  for (std::size_t from = 0; from < schedule.size(); ++from)
    for (const int to : schedule[from])
      for (const auto link : topology.route(static_cast<int>(from), to)) ++visits[link];
  return visits;
}
}  // namespace nhalf
