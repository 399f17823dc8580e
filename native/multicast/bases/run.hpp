// Simulates one multicast: processes of every host's CPU and of every adapter.
#pragma once

#include "contract/transport.hpp"
#include "multicast/bases/agenda.hpp"
#include "multicast/bases/multicast.hpp"
#include "multicast/bases/topology.hpp"
#include "network/max_min.hpp"

namespace nhalf::multicast {
/// Seconds and bytes per second of hosts, adapters and links; 0 for a rate is no limit.
struct Costs {
  /// A host posts a message, or a list of them, to its adapter; a host takes a message.
  double send_overhead_s = 0;
  double receive_overhead_s = 0;
  /// An adapter prepares one message of its host, takes one in, prepares one that came in.
  double adapter_send_s = 0;
  double adapter_receive_s = 0;
  double adapter_forward_s = 0;
  /// Head of a message from node to node over one link, or to the switch.
  double link_latency_s = 0;
  double link_Bps = 0;
  /// Between host and adapter, shared by both directions.
  double bus_Bps = 0;

  /// Returns how long a message occupies the bus.
  [[nodiscard]] double bus_s(std::size_t size_bytes) const {
    return bus_Bps > 0 ? static_cast<double>(size_bytes) / bus_Bps : 0;
  }
};

/// The options of the program, with their defaults.
inline constexpr OptionInfo multicast_options[] = {
    {"dimensions", "4x4", "", "nodes on the rings of a torus, in each dimension"},
    {"switch", "0", "", "so many nodes around one switch instead of a torus"},
    {"rings", "both-ways", "", "or one-way, as in SCI"},
    {"o_s", "1e-6", "s", "the host posts a message or a list of messages"},
    {"o_r", "1e-6", "s", "the host takes a message"},
    {"nic_send", "1e-6", "s", "the adapter prepares one message that the host posted"},
    {"nic_receive", "1e-6", "s", "the adapter takes a message in"},
    {"nic_forward", "1e-6", "s", "the adapter prepares one copy of a message that came in"},
    {"link_latency", "1e-7", "s", "the head of a message over one link"},
    {"link_bandwidth", "5e8", "B/s", "of one link in one direction"},
    {"bus_bandwidth", "0", "B/s",
     "between host and adapter, both directions together; 0: no limit"}};

inline const OptionInfo& multicast_option(std::string_view name) {
  for (const auto& option : multicast_options)
    if (option.name == name) return option;
  throw InputError("multicast has no option '" + std::string(name) + "'");
}

/// The text of an option, or its usual one. Throws InputError for an unknown name.
inline std::string multicast_text(const Options& options, const std::string& name) {
  return options.text(name, std::string(multicast_option(name).fallback));
}

/// Throws InputError where a value is no number from 0 up.
inline Costs multicast_costs(const Options& options) {
  const auto number = [&](const std::string& name) {
    return Options::parse(name + "=" + multicast_text(options, name), ' ').number(name, 0.0);
  };
  Costs costs{.send_overhead_s = number("o_s"),
              .receive_overhead_s = number("o_r"),
              .adapter_send_s = number("nic_send"),
              .adapter_receive_s = number("nic_receive"),
              .adapter_forward_s = number("nic_forward"),
              .link_latency_s = number("link_latency"),
              .link_Bps = number("link_bandwidth"),
              .bus_Bps = number("bus_bandwidth")};
  if (!(costs.link_Bps > 0)) throw InputError("link_bandwidth is more than 0");
  return costs;
}

/// The nodes that the options describe.
inline Topology multicast_topology(const Options& options) {
  const int ports = options.number("switch", 0);
  if (ports != 0) return Topology::crossbar(ports);
  const auto rings = multicast_text(options, "rings");
  if (rings != "both-ways" && rings != "one-way")
    throw InputError("rings=" + rings + " is neither both-ways nor one-way");
  return Topology::torus(parse_dimensions(multicast_text(options, "dimensions")),
                         rings == "one-way");
}

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
struct Outcome {
  /// Time at which the host had received the message and posted all copies.
  std::vector<double> done_s;
  std::vector<double> host_cpu_s;
  /// Time at which the last destination's host had the message.
  double completion_s = 0;
};

/// Messages on their way, whose bytes share the links that they pass.
class Transfers {
 public:
  Transfers(Agenda& agenda, double link_Bps) : agenda_(agenda), link_Bps_(link_Bps) {}

  /// Waits until the last byte of a message has passed.
  auto pass(network::Way way, double size_bytes) {
    return Wait{[size_bytes] { return size_bytes <= 0; },
                [this, way = std::move(way), size_bytes](Handle process) {
                  begin(way, size_bytes, process);
                }};
  }

  /// Lets the processes go on until none waits for a time or its message.
  void run() {
    for (;;) {
      const auto first = std::ranges::min_element(moving_, {}, &Moving::end_s);
      const bool is_moving = first != moving_.end();
      if (!agenda_.empty() && !(is_moving && first->end_s < agenda_.next_s()))
        agenda_.step();
      else if (is_moving)
        end(first);
      else
        return;
    }
  }

 private:
  struct Moving {
    Handle process;
    double left_bytes, since_s, rate_Bps, end_s;
  };

  void begin(network::Way way, double size_bytes, Handle process) {
    for (auto& link : way)
      link = numbers_.try_emplace(link, static_cast<network::Link>(numbers_.size())).first->second;
    capacities_Bps_.assign(numbers_.size(), link_Bps_);
    ways_.push_back(std::move(way));
    moving_.push_back({process, size_bytes, agenda_.now_s(), 0, 0});
    share();
  }
  void end(std::vector<Moving>::iterator ended) {
    agenda_.pass_to(ended->end_s);
    const auto process = ended->process;
    ways_.erase(ways_.begin() + (ended - moving_.begin()));
    moving_.erase(ended);
    if (!moving_.empty()) share();
    process.resume();
  }
  /// Finds the rate of each message anew.
  void share() {
    const std::vector<double> alone_Bps(moving_.size(), link_Bps_);
    std::vector<double> rates_Bps(moving_.size());
    max_min_.share(ways_, alone_Bps.data(), capacities_Bps_, rates_Bps.data());
    for (std::size_t at = 0; at < moving_.size(); ++at) {
      auto& message = moving_[at];
      if (message.rate_Bps == rates_Bps[at]) continue;
      message.left_bytes -= message.rate_Bps * (agenda_.now_s() - message.since_s);
      message.since_s = agenda_.now_s();
      message.rate_Bps = rates_Bps[at];
      message.end_s = message.since_s + std::max(0.0, message.left_bytes) / message.rate_Bps;
    }
  }

  Agenda& agenda_;
  double link_Bps_;
  /// Links that were passed, numbered anew: a network may have far more.
  std::map<network::Link, network::Link> numbers_;
  std::vector<double> capacities_Bps_;
  std::vector<Moving> moving_;
  std::vector<network::Way> ways_;
  network::RealMaxMin max_min_;
};

/// Runs a schedule once.
///
/// A message leaves an adapter after the one before it; while it moves it shares each link of its
/// route fairly with others (max-min), and its head adds the latency of the links passed. It comes
/// in whole before it is taken or forwarded; one that is cut into pieces does so piece by piece,
/// and each costs what a message costs.
class Run {
 public:
  /// `pieces` are the sizes in bytes into which the message is cut, one at least.
  Run(const Topology& topology, const Schedule& schedule, int source, const Costs& costs,
      Forwarding forwarding, std::vector<std::size_t> pieces)
      : topology_(topology),
        schedule_(schedule),
        source_(source),
        costs_(costs),
        forwarding_(forwarding),
        pieces_(std::move(pieces)),
        transfers_(agenda_, costs.link_Bps),
        outcome_{.done_s = std::vector<double>(schedule.size()),
                 .host_cpu_s = std::vector<double>(schedule.size()),
                 .completion_s = 0} {}

  Outcome run() {
    nodes_.try_emplace(source_, agenda_);
    for (const auto& forwards : schedule_)
      for (const int to : forwards) nodes_.try_emplace(to, agenda_);
    for (auto& [number, node] : nodes_) {
      serve_host(number, node);
      serve_sends(number, node);
    }
    transfers_.run();
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
    explicit Node(Agenda& agenda) : requests(agenda), arrivals_s(agenda) {}

    /// Messages that the adapter has to send, and when each received piece is available to the
    /// host.
    Handover<Request> requests;
    Handover<double> arrivals_s;
    double bus_free_s = 0;
    double receive_free_s = 0;
  };

  [[nodiscard]] const std::vector<int>& forwards_of(int node) const {
    return schedule_[static_cast<std::size_t>(node)];
  }

  Process serve_host(int number, Node& node) {
    const auto place = static_cast<std::size_t>(number);
    const bool is_destination = number != source_;
    for (const auto size_bytes : pieces_) {
      if (is_destination) {
        co_await agenda_.until(co_await node.arrivals_s.take());
        co_await agenda_.pass(costs_.receive_overhead_s);
        outcome_.host_cpu_s[place] += costs_.receive_overhead_s;
        outcome_.completion_s = std::max(outcome_.completion_s, agenda_.now_s());
      }
      if (is_destination && forwarding_ == Forwarding::adapter) continue;
      for (auto& list : posts_of(number)) {
        co_await agenda_.pass(costs_.send_overhead_s);
        outcome_.host_cpu_s[place] += costs_.send_overhead_s;
        node.requests.give({std::move(list), size_bytes, over_bus(node, size_bytes), false});
      }
    }
    outcome_.done_s[place] = agenda_.now_s();
  }

  /// What the host gives to its adapter of each piece: copies one by one, or a list.
  [[nodiscard]] std::vector<std::vector<int>> posts_of(int number) const {
    const auto& to = forwards_of(number);
    if (to.empty()) return {};
    if (forwarding_ != Forwarding::host) return {to};
    std::vector<std::vector<int>> posts;
    for (const int target : to) posts.push_back({target});
    return posts;
  }

  /// One piece that has passed some links, on its way to the host and on.
  Process arrive(int number, std::size_t size_bytes, std::size_t links) {
    auto& node = nodes_.at(number);
    co_await agenda_.pass(static_cast<double>(links) * costs_.link_latency_s);
    node.receive_free_s = std::max(agenda_.now_s(), node.receive_free_s) + costs_.adapter_receive_s;
    co_await agenda_.until(node.receive_free_s);
    node.arrivals_s.give(over_bus(node, size_bytes));
    if (forwarding_ == Forwarding::adapter && !forwards_of(number).empty())
      node.requests.give({forwards_of(number), size_bytes, agenda_.now_s(), true});
  }

  /// Lets the adapter send its queue, one message after the other: it prepares each, and puts it on
  /// the wire until its last byte has left.
  Process serve_sends(int number, Node& node) {
    const auto messages = forwards_of(number).size() * pieces_.size();
    for (std::size_t sent = 0; sent < messages;) {
      const auto request = co_await node.requests.take();
      co_await agenda_.until(request.ready_s);
      const double prepare_s = request.forwards ? costs_.adapter_forward_s : costs_.adapter_send_s;
      for (const int target : request.to) {
        co_await agenda_.pass(prepare_s);
        const auto way = topology_.route(number, target);
        co_await transfers_.pass(way, static_cast<double>(request.size_bytes));
        arrive(target, request.size_bytes, way.size());
      }
      sent += request.to.size();
    }
  }

  /// Returns when a message that requests the bus now has passed it.
  double over_bus(Node& node, std::size_t size_bytes) const {
    node.bus_free_s = std::max(agenda_.now_s(), node.bus_free_s) + costs_.bus_s(size_bytes);
    return node.bus_free_s;
  }

  const Topology& topology_;
  const Schedule& schedule_;
  int source_;
  Costs costs_;
  Forwarding forwarding_;
  std::vector<std::size_t> pieces_;
  Agenda agenda_;
  Transfers transfers_;
  std::map<int, Node> nodes_;
  Outcome outcome_;
};
}  // namespace nhalf::multicast
