// The links of a network and which of them a message passes: the routes are fixed, and those of
// the machines that SimGrid simulates (native/simulator/wiring.hpp).
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <variant>
#include <vector>

namespace nhalf::network {
// The words of a line of a machine's description, one after the other.
class DescriptionLine {
 public:
  explicit DescriptionLine(std::string_view line) : rest_(line) {}

  std::string_view word() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size()));
    const auto next = rest_.substr(0, rest_.find(' '));
    rest_.remove_prefix(next.size());
    return next;
  }
  template <class Number>
  bool number(Number& value) {
    const auto digits = word();
    const auto* end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, value);
    return error == std::errc{} && stop == end && !digits.empty();
  }
  /// Reads this many numbers.
  template <class Number>
  bool numbers(std::size_t count, std::vector<Number>& values) {
    for (Number value{}; values.size() < count && number(value);) values.push_back(value);
    return values.size() == count;
  }

 private:
  std::string_view rest_;
};

/// The number of a link in one direction, or of both where a network is half duplex.
using Link = std::uint32_t;
using Way = std::vector<Link>;

/// Links side by side: the first of them, and how many they are.
struct Alike {
  Link first;
  std::uint64_t count;
};

inline std::uint64_t product(const std::vector<std::uint32_t>& factors, std::size_t begin,
                             std::size_t end) {
  std::uint64_t all = 1;
  for (auto at = begin; at < end; ++at) all *= factors[at];
  return all;
}

/// Every node has a link to one switch that never blocks.
struct Star {
  std::uint32_t nodes = 0;

  bool read(DescriptionLine& line) { return line.number(nodes); }
  [[nodiscard]] std::uint64_t links() const { return 2ull * nodes; }
  void pass(std::uint32_t from, std::uint32_t to, Way& way) const {
    way.push_back(2 * from);
    way.push_back(2 * to + 1);
  }
};

/// Every node has its own link to every other.
struct Direct {
  std::uint32_t nodes = 0;

  bool read(DescriptionLine& line) { return line.number(nodes); }
  [[nodiscard]] std::uint64_t links() const { return 2ull * nodes * nodes; }
  void pass(std::uint32_t from, std::uint32_t to, Way& way) const {
    const auto pair = std::min(from, to) * nodes + std::max(from, to);
    way.push_back(2 * pair + (from < to ? 0 : 1));
  }
};

/// From the leaves up: what is below a switch, switches above each, and cables side by side. The
/// node that a message goes to decides on the cables, or in a tree of two levels both leaf
/// switches. Messages go down by the cables that messages from there take up.
struct FatTree {
  std::vector<std::uint32_t> down, up, cables;
  bool is_by_switch = false;

  bool read(DescriptionLine& line) {
    std::size_t levels = 0;
    is_by_switch = line.word() == "switch";
    return line.number(levels) && levels > 0 && levels < 32 && line.numbers(levels, down) &&
           line.numbers(levels, up) && line.numbers(levels, cables);
  }
  [[nodiscard]] std::uint64_t links() const { return first_of(down.size()); }
  void pass(std::uint32_t from, std::uint32_t to, Way& way) const {
    std::uint64_t above = 0;
    std::vector<Link> descent;
    auto below_from = from;
    auto below_to = to;
    for (std::size_t level = 0; below_from != below_to; ++level) {
      const auto cable = cable_of(level, from, to);
      way.push_back(number_of(level, below_from, above, cable));
      descent.push_back(number_of(level, below_to, above, cable) + 1);
      above = above * up[level] + cable % up[level];
      below_from /= down[level];
      below_to /= down[level];
    }
    way.insert(way.end(), descent.rbegin(), descent.rend());
  }
  /// Returns the cables that lead from the same nodes up a level, or down to them, as this one
  /// does.
  [[nodiscard]] Alike alike(Link number) const {
    std::size_t level = 0;
    while (level + 1 < down.size() && first_of(level + 1) <= number) ++level;
    const auto first = first_of(level);
    const auto count = product(up, 0, level) * cables_of(level);
    const auto below = (number - first) / 2 / count;
    return {static_cast<Link>(first + 2 * below * count + number % 2), count};
  }

 private:
  [[nodiscard]] std::uint64_t cables_of(std::size_t level) const {
    return std::uint64_t{up[level]} * cables[level];
  }
  [[nodiscard]] std::uint64_t cable_of(std::size_t level, std::uint32_t from,
                                       std::uint32_t to) const {
    if (is_by_switch && level == 1) return (from / down[0] + to / down[0]) % cables_of(level);
    return to / product(up, 0, level) % cables_of(level);
  }
  /// Returns the first number of a level's links.
  [[nodiscard]] std::uint64_t first_of(std::size_t level) const {
    std::uint64_t first = 0;
    for (std::size_t below = 0; below < level; ++below)
      first += 2 * product(down, below, down.size()) * product(up, 0, below) * cables_of(below);
    return first;
  }
  /// Returns a cable up from one of the switches, or nodes, that have the same nodes below them.
  [[nodiscard]] Link number_of(std::size_t level, std::uint64_t below, std::uint64_t position,
                               std::uint64_t cable) const {
    const auto place = (below * product(up, 0, level) + position) * cables_of(level) + cable;
    return static_cast<Link>(first_of(level) + 2 * place);
  }
};

/// A grid closed to rings; messages go the shorter way round, up where both are as long and always
/// up on rings of one way, one dimension after the other.
struct Torus {
  std::vector<std::uint32_t> dimensions;
  bool is_one_way = false;

  bool read(DescriptionLine& line) {
    std::size_t count = 0;
    return line.number(count) && count > 0 && count < 64 && line.numbers(count, dimensions);
  }
  [[nodiscard]] std::uint64_t links() const {
    return 2 * product(dimensions, 0, dimensions.size()) * dimensions.size();
  }
  void pass(std::uint32_t from, std::uint32_t to, Way& way) const {
    std::uint32_t stride = 1;
    auto node = from;
    for (std::size_t dimension = 0; dimension < dimensions.size(); ++dimension) {
      const auto size = dimensions[dimension];
      const auto goal = to / stride % size;
      auto place = node / stride % size;
      const bool is_up = is_one_way || (goal + size - place) % size * 2 <= size;
      while (place != goal) {
        const auto next = is_up ? (place + 1) % size : (place + size - 1) % size;
        const auto next_node = node - place * stride + next * stride;
        way.push_back(number_of(dimension, is_up ? node : next_node, is_up));
        node = next_node;
        place = next;
      }
      stride *= size;
    }
  }

 private:
  /// Returns the link of a node to the next one, or back from there.
  [[nodiscard]] Link number_of(std::size_t dimension, std::uint32_t node, bool is_up) const {
    return static_cast<Link>(2 * (node * dimensions.size() + dimension) + (is_up ? 0 : 1));
  }
};

using Topology = std::variant<std::monostate, Star, Direct, FatTree, Torus>;

/// Returns the links between two nodes.
inline Way route(const Topology& topology, std::uint32_t from, std::uint32_t to) {
  Way way;
  std::visit(
      [&](const auto& kind) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(kind)>, std::monostate>)
          kind.pass(from, to, way);
      },
      topology);
  return way;
}

/// Reads a topology of a kind into another; whether it is one.
inline bool read_topology(std::string_view kind, DescriptionLine& line, Topology& topology) {
  if (kind == "star") return topology.emplace<Star>().read(line);
  if (kind == "direct") return topology.emplace<Direct>().read(line);
  if (kind == "tree") return topology.emplace<FatTree>().read(line);
  return kind == "torus" && topology.emplace<Torus>().read(line);
}
}  // namespace nhalf::network
