// The description of a simulated machine: its wiring, and the costs of messages by distance.
#pragma once

#include <fstream>

#include "contract/options.hpp"
#include "network/wires.hpp"

namespace nhalf::simulator {
/// A message of n bytes takes send + latency + n/rate + receive; seconds and bytes per second.
/// `send_s` and `recv_s` keep a processor busy, the rest happens in the network.
struct Segment {
  double from_bytes = 0;
  double latency_s = 0;
  double rate_Bps = std::numeric_limits<double>::infinity();
  double send_s = 0;
  double recv_s = 0;

  /// Returns half of a round trip.
  [[nodiscard]] double time_s(double size_bytes) const {
    return send_s + latency_s + size_bytes / rate_Bps + recv_s;
  }
};

/// The costs between nodes whose numbers are `apart` apart or more; 0: within a node. Messages of a
/// rank leave it `gap_s` apart at least.
struct Curve {
  std::size_t apart = 0;
  double gap_s = 0;
  std::vector<Segment> segments;

  [[nodiscard]] const Segment& at(double size_bytes) const {
    const auto next = std::ranges::upper_bound(segments, size_bytes, {}, &Segment::from_bytes);
    return next == segments.begin() ? segments.front() : *std::prev(next);
  }
};

/// How far messages of a size are apart at their sender and their receiver, and what an exchange of
/// two takes, as network/wires.hpp has it; nothing where that is not known.
struct Spacings {
  using Parts = std::vector<network::CurvePart>;
  Parts out, in, both;

  /// Returns seconds of a size.
  static double at(const Parts& parts, double size_bytes) {
    const auto bytes = static_cast<std::uint64_t>(std::max(size_bytes, 0.0));
    const auto next = std::ranges::upper_bound(parts, bytes, {}, &network::CurvePart::from_bytes);
    const auto& part = next == parts.begin() ? parts.front() : *std::prev(next);
    return 1e-12 * static_cast<double>(std::max<std::int64_t>(part.start + part.growth(bytes), 0));
  }
};

/// A resource of a node that messages share: its rates, 0 for no bound, and how many consecutive
/// ranks share one, 0 for all of the node. `away`: messages between nodes only.
struct Share {
  std::size_t ranks = 0;
  bool away = false;
  double one_way_Bps = 0;
  double both_ways_Bps = 0;
};

/// "4,8" as numbers. Throws InputError for anything else.
template <class Number>
std::vector<Number> numbers(std::string_view text) {
  std::vector<Number> values;
  while (!text.empty()) {
    const auto cut = std::min(text.find(','), text.size());
    values.push_back(
        Options::parse("n=" + std::string(text.substr(0, cut)), ' ').number("n", Number{}));
    text.remove_prefix(std::min(cut + 1, text.size()));
  }
  return values;
}

/// The whole description, from lines of `key=value` pairs.
///
///     topology kind=fat-tree down=16,32 up=1,16 cables=1,1
///     link bandwidth_Bps=1e9 latency_s=1e-7 nearest=2 duplex=1 medium_Bps=0
///     node count=512 ranks=2 bandwidth_Bps=4e9 eager_bytes=16384
///     share ranks=1 away=0 one_way_Bps=1e9 both_ways_Bps=1.1e9
///     curve apart=0 gap_s=1e-6
///     segment from_bytes=0 latency_s=1e-6 rate_Bps=1e9 send_s=5e-7 recv_s=5e-7
///     between out 0 1000 1000000000 0
///     alone
///
/// Segments belong to the curve before them; both come in rising order. Curves hold between nodes
/// that are `nearest` links apart; every further link adds its latency. A `medium_Bps` of 0 is
/// none: no wire that all nodes have in common. A node has a host for each of its `ranks`; 1: one
/// host, for however many. Sends of more than `eager_bytes` end when their bytes have left. Kinds
/// are star (a link from every node to one switch), direct, fat-tree (with route=switch the leaf
/// switches at both ends decide on the cable) and torus. `within` nodes and `between` them, lines
/// follow of spacings as network/wires.hpp has them.
struct Machine {
  Options topology, link, node;
  /// Whether no node has a second rank.
  bool are_ranks_alone = false;
  std::vector<Share> shares;
  std::vector<Curve> curves;
  /// Within a node, and between nodes.
  std::array<Spacings, 2> spacings;

  [[nodiscard]] double medium_Bps() const { return link.number("medium_Bps", 0.0); }
  /// The rate of a way that some ranks of a node have for themselves, 0: all. Messages of one rank
  /// leave it, and come in, one after the other anyway.
  [[nodiscard]] double own_Bps(double rate_Bps, std::size_t ranks = 0) const {
    return are_ranks_alone || ranks == 1 ? std::max(rate_Bps, wide_Bps) : rate_Bps;
  }
  [[nodiscard]] double eager_bytes() const { return eager_bytes_; }

  /// Reads a file. Throws InputError where it cannot be read, or says what is not known.
  static Machine read(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw InputError("the machine's description cannot be read: " + path);
    Machine machine;
    for (std::string line; std::getline(file, line);) machine.add(line);
    if (machine.curves.empty() || machine.curves.front().segments.empty())
      throw InputError("the machine's description has no curve: " + path);
    return machine;
  }

  [[nodiscard]] const Curve& between(std::size_t apart) const {
    const auto next = std::ranges::upper_bound(curves, apart, {}, &Curve::apart);
    return next == curves.begin() ? curves.front() : *std::prev(next);
  }

 private:
  double eager_bytes_ = std::numeric_limits<double>::infinity();

  void add(const std::string& line) {
    const auto cut = std::min(line.find(' '), line.size());
    const auto word = line.substr(0, cut);
    if (word == "within" || word == "between")
      return add_spacing(spacings[word == "between" ? 1 : 0], line.substr(cut));
    const auto values = Options::parse(std::string_view(line).substr(cut), ' ');
    if (word == "topology") topology = values;
    if (word == "link") link = values;
    if (word == "alone") are_ranks_alone = true;
    if (word == "node") {
      node = values;
      eager_bytes_ = node.number("eager_bytes", eager_bytes_);
    }
    if (word == "share")
      shares.push_back({values.number("ranks", std::size_t{0}), values.number("away", 0) != 0,
                        values.number("one_way_Bps", 0.0), values.number("both_ways_Bps", 0.0)});
    if (word == "curve")
      curves.push_back({values.number("apart", std::size_t{0}), values.number("gap_s", 0.0), {}});
    if (word == "segment" && !curves.empty())
      curves.back().segments.push_back(
          {values.number("from_bytes", 0.0), values.number("latency_s", 0.0),
           values.number("rate_Bps", std::numeric_limits<double>::infinity()),
           values.number("send_s", 0.0), values.number("recv_s", 0.0)});
  }

  static constexpr double wide_Bps = 1e15;

  static void add_spacing(Spacings& known, const std::string& text) {
    network::DescriptionLine line(text);
    const auto name = line.word();
    auto* parts = name == "out"    ? &known.out
                  : name == "in"   ? &known.in
                  : name == "both" ? &known.both
                                   : nullptr;
    network::CurvePart part;
    const bool is_read = parts != nullptr && line.number(part.from_bytes) &&
                         line.number(part.start) && line.number(part.per_byte) &&
                         line.number(part.per_root);
    if (!is_read) throw InputError("the machine's description has no spacing '" + text + "'");
    parts->push_back(part);
  }
};
}  // namespace nhalf::simulator
