// Costs of the parts of a machine in a multicast, from options.
#pragma once

#include "contract/transport.hpp"
#include "multicast/bases/topology.hpp"

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
}  // namespace nhalf::multicast
