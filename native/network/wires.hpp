// What messages take on the machine: LogGP with a curve for each distance of nodes, which
// src/nhalf/machines/wires.py writes from a machine file.
//
// Half the round trip of n bytes is T(n), the curve. The sender's processor is busy for `send` of
// it and the receiver's for `receive`; the rest, `transit`, passes on the way. Of that a message
// keeps the way out of its sender and the way into its receiver for as long as its bytes take, but
// for `gap` at least: `busy_out` and `busy_in`; or as long as messages that one rank sends to many,
// or receives from many, were seen to be apart. Its bytes take longer while others pass the other
// way, where an exchange was seen to take longer than a message.
//
//     nodes 0 0 1 1                 the node of every rank
//     wire 0 250 250 1000           from a distance on: send, receive and gap in picoseconds
//     part 0 500 1000000000 0       from a size on: start in picoseconds; per byte, and per root of
//                                   a byte, in attoseconds
//     out 0 1000 1000000000 0       how far messages of the wire are apart at their sender,
//     in 0 1000 1000000000 0        and at their receiver
//     both 0 900 1500000000 0       what two messages take that two ranks exchange
#pragma once

#include <cmath>
#include <initializer_list>
#include <optional>

#include "network/picoseconds.hpp"
#include "network/routes.hpp"
#include "network/state.hpp"

namespace nhalf::network {
/// Whose times noise lengthens.
enum class Noisy : std::uint64_t { message, computing };

class Noise {
 public:
  /// The mean of what is added, in millionths of a time; 0: no noise.
  std::uint64_t share_ppm = 0;
  std::uint64_t seed = 0;

  /// Returns what is added to a time of a rank, of which it is the `number`-th of its kind.
  [[nodiscard]] Picoseconds added(Picoseconds time, Noisy kind, int rank,
                                  std::uint64_t number) const {
    if (share_ppm == 0) return 0;
    auto state = mixed(seed);
    for (const auto part :
         {static_cast<std::uint64_t>(rank), static_cast<std::uint64_t>(kind), number})
      state = mixed(state ^ part);
    // In (0, 1], so that the logarithm is finite.
    const double uniform = static_cast<double>((state >> 11) + 1) * 0x1p-53;
    const double mean = static_cast<double>(time) * static_cast<double>(share_ppm) * 1e-6;
    return static_cast<Picoseconds>(std::llround(-std::log(uniform) * mean));
  }

 private:
  /// A step of SplitMix64 (G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number
  /// generators", OOPSLA 2014).
  static std::uint64_t mixed(std::uint64_t state) {
    state += 0x9E37'79B9'7F4A'7C15u;
    state = (state ^ (state >> 30)) * 0xBF58'476D'1CE4'E5B9u;
    state = (state ^ (state >> 27)) * 0x94D0'49BB'1331'11EBu;
    return state ^ (state >> 31);
  }
};

/// T(n) = start + n per_byte + sqrt(n) per_root from a size on; attoseconds but for the start.
struct CurvePart {
  std::uint64_t from_bytes = 0;
  std::int64_t start = 0;
  std::int64_t per_byte = 0;
  std::int64_t per_root = 0;

  /// Returns what grows with the size.
  [[nodiscard]] std::int64_t growth(std::uint64_t bytes) const {
    const auto linear = static_cast<__int128>(per_byte) * bytes / 1'000'000;
    if (per_root == 0) return static_cast<std::int64_t>(linear);
    const double root = std::sqrt(static_cast<double>(bytes)) * static_cast<double>(per_root);
    return static_cast<std::int64_t>(linear) + std::llround(root * 1e-6);
  }
};

class Wire {
 public:
  /// From this distance of nodes on; 0 is the inside of a node.
  std::uint32_t distance = 0;
  Picoseconds send = 0;
  Picoseconds receive = 0;
  Picoseconds gap = 0;
  std::vector<CurvePart> parts;
  /// How far messages are apart that one rank sends, or receives; none: as far as gap and bytes
  /// keep them.
  std::vector<CurvePart> out_parts;
  std::vector<CurvePart> in_parts;
  /// An exchange of two messages; none: it takes as long as one.
  std::vector<CurvePart> both_parts;

  /// Returns half of a round trip.
  [[nodiscard]] Picoseconds time(std::uint64_t bytes) const {
    const auto& part = part_of(parts, bytes);
    const auto least = static_cast<std::int64_t>(send + receive);
    return static_cast<Picoseconds>(std::max(part.start + part.growth(bytes), least));
  }
  [[nodiscard]] Picoseconds transit(std::uint64_t bytes) const {
    return time(bytes) - send - receive;
  }
  /// Returns how long its bytes take.
  ///
  /// A part of the curve that begins below 0, as one whose rate falls, would claim more for its
  /// bytes than a message takes beyond an empty one.
  [[nodiscard]] Picoseconds streams(std::uint64_t bytes) const {
    const auto beyond = static_cast<std::int64_t>(time(bytes)) - static_cast<std::int64_t>(time(0));
    const auto growth = std::min(part_of(parts, bytes).growth(bytes), beyond);
    return static_cast<Picoseconds>(std::max<std::int64_t>(growth, 0));
  }
  [[nodiscard]] Picoseconds busy_out(std::uint64_t bytes) const { return busy(out_parts, bytes); }
  [[nodiscard]] Picoseconds busy_in(std::uint64_t bytes) const { return busy(in_parts, bytes); }
  /// Returns what the bytes take more while others pass the other way: 1 at least where that is
  /// known, since they may slow others that do not slow them.
  [[nodiscard]] Picoseconds against(std::uint64_t bytes) const {
    if (both_parts.empty()) return 0;
    const auto alone = time(bytes);
    return std::max(apart_time(both_parts, bytes), alone + 1) - alone;
  }

 private:
  [[nodiscard]] Picoseconds busy(const std::vector<CurvePart>& apart, std::uint64_t bytes) const {
    if (apart.empty()) return std::max(gap, streams(bytes));
    return apart_time(apart, bytes);
  }
  static Picoseconds apart_time(const std::vector<CurvePart>& apart, std::uint64_t bytes) {
    const auto& part = part_of(apart, bytes);
    return static_cast<Picoseconds>(std::max<std::int64_t>(part.start + part.growth(bytes), 0));
  }
  static const CurvePart& part_of(const std::vector<CurvePart>& parts, std::uint64_t bytes) {
    auto part = parts.begin();
    while (part + 1 != parts.end() && (part + 1)->from_bytes <= bytes) ++part;
    return *part;
  }
};

/// The machine as ranks see it.
class Wires {
 public:
  /// Reads a description; nothing if it is none.
  static std::optional<Wires> read(std::string_view text) {
    Wires wires;
    while (!text.empty()) {
      const auto end = std::min(text.find('\n'), text.size());
      if (!wires.take(DescriptionLine(text.substr(0, end)))) return std::nullopt;
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (!wires.is_whole()) return std::nullopt;
    wires.routes.place(wires.nodes_);
    return wires;
  }

  [[nodiscard]] const Wire& between(int from, int to) const {
    const auto source = nodes_[static_cast<std::size_t>(from)];
    const auto target = nodes_[static_cast<std::size_t>(to)];
    const auto distance = static_cast<std::uint32_t>(std::abs(source - target));
    auto wire = wires_.begin();
    while (wire + 1 != wires_.end() && (wire + 1)->distance <= distance) ++wire;
    return *wire;
  }
  [[nodiscard]] int ranks() const { return static_cast<int>(nodes_.size()); }
  /// The node of every rank.
  [[nodiscard]] const std::vector<int>& nodes() const { return nodes_; }

  /// How many thousandths of a processor's time count as time of the program; 0: none.
  std::uint64_t computing_permille = 0;
  /// What reading a clock takes, and a poll in vain: loops of either end.
  Picoseconds clock_read = 10'000;
  Picoseconds empty_poll = 100'000;
  /// Longer messages occupy their sender until they have left it.
  std::uint64_t eager_bytes = 16384;
  Noise noise;
  /// What messages share.
  Routes routes;

 private:
  bool take(DescriptionLine line) {
    const auto name = line.word();
    if (name == "nodes") return take_nodes(line);
    if (name == "wire") return take_wire(line);
    if (name == "part") return take_part(&Wire::parts, line);
    if (name == "out") return take_part(&Wire::out_parts, line);
    if (name == "in") return take_part(&Wire::in_parts, line);
    if (name == "both") return take_part(&Wire::both_parts, line);
    if (name == "computing") return line.number(computing_permille);
    if (name == "eager") return line.number(eager_bytes);
    if (name == "clock") return line.number(clock_read);
    if (name == "noise") return line.number(noise.share_ppm) && line.number(noise.seed);
    if (name == "look") return line.number(empty_poll);
    return name.empty() || routes.take(name, line);
  }
  bool take_nodes(DescriptionLine& line) {
    for (int node = 0; line.number(node);) nodes_.push_back(node);
    return !nodes_.empty() && nodes_.size() <= ranks_max;
  }
  bool take_wire(DescriptionLine& line) {
    auto& wire = wires_.emplace_back();
    return line.number(wire.distance) && line.number(wire.send) && line.number(wire.receive) &&
           line.number(wire.gap);
  }
  bool take_part(std::vector<CurvePart> Wire::* parts, DescriptionLine& line) {
    if (wires_.empty()) return false;
    auto& part = (wires_.back().*parts).emplace_back();
    return line.number(part.from_bytes) && line.number(part.start) && line.number(part.per_byte) &&
           line.number(part.per_root);
  }
  [[nodiscard]] bool is_whole() const {
    return !nodes_.empty() && !wires_.empty() &&
           std::all_of(wires_.begin(), wires_.end(),
                       [](auto& wire) { return !wire.parts.empty(); });
  }

  std::vector<int> nodes_;
  std::vector<Wire> wires_;
};
}  // namespace nhalf::network
