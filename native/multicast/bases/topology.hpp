// Nodes on rings in several dimensions, or around one switch: where they are, and what links a
// message passes.
#pragma once

#include "contract/options.hpp"
#include "network/topology.hpp"

namespace nhalf {
/// A network of nodes 0, 1, 2, ...; a link is named by a number.
class Topology {
 public:
  /// Rings of so many nodes in each dimension, the first of which runs fastest in the numbers of
  /// nodes. On rings of one way every message goes up (SCI), else the shorter way round; where both
  /// are as long, up. Throws InputError for a dimension below 1 or more than 2^20 nodes.
  static Topology torus(std::vector<int> dimensions, bool one_way) {
    Topology made(std::move(dimensions));
    made.links_ = network::Torus{{made.dimensions_.begin(), made.dimensions_.end()}, one_way};
    return made;
  }

  /// So many nodes around a switch that never blocks; a link leads there from each, one back.
  static Topology crossbar(int nodes) {
    Topology made({nodes});
    made.links_ = network::Star{static_cast<std::uint32_t>(nodes)};
    return made;
  }

  [[nodiscard]] bool is_torus() const { return std::holds_alternative<network::Torus>(links_); }
  [[nodiscard]] int nodes() const { return nodes_; }
  /// Nodes in each dimension; a crossbar has one dimension with all nodes.
  [[nodiscard]] const std::vector<int>& dimensions() const { return dimensions_; }

  /// Where a node is in a dimension.
  [[nodiscard]] int coordinate(int node, std::size_t dimension) const {
    return node / strides_[dimension] % dimensions_[dimension];
  }

  /// How many steps up a node is from another in a dimension, round the ring.
  [[nodiscard]] int steps_up(int from, int to, std::size_t dimension) const {
    const int size = dimensions_[dimension];
    return (coordinate(to, dimension) - coordinate(from, dimension) + size) % size;
  }

  /// `steps_up` of every dimension, the first that a message is routed in first.
  [[nodiscard]] std::vector<int> relative(int from, int to) const {
    std::vector<int> neighbours;
    for (std::size_t i = 0; i < dimensions_.size(); ++i)
      neighbours.push_back(steps_up(from, to, i));
    return neighbours;
  }

  /// The links that a message passes: in a torus dimension by dimension.
  [[nodiscard]] network::Way route(int from, int to) const {
    return from == to ? network::Way{}
                      : network::route(links_, static_cast<std::uint32_t>(from),
                                       static_cast<std::uint32_t>(to));
  }

 private:
  static constexpr int nodes_max = 1 << 20;

  explicit Topology(std::vector<int> dimensions) : dimensions_(std::move(dimensions)) {
    if (dimensions_.empty()) throw InputError("a network has a dimension or more");
    for (const int size : dimensions_) {
      if (size < 1 || size > nodes_max / nodes_)
        throw InputError("a network has 1 to 2^20 nodes, and 1 or more in each dimension");
      strides_.push_back(nodes_);
      nodes_ *= size;
    }
  }

  std::vector<int> dimensions_;
  std::vector<int> strides_;
  int nodes_ = 1;
  network::Topology links_;
};

/// Sizes written as '4x4x2'. Throws InputError where they are not numbers.
inline std::vector<int> parse_dimensions(std::string_view text) {
  std::vector<int> order;
  for (;;) {
    const auto cut = std::min(text.find('x'), text.size());
    const auto key = "dimension=" + std::string(text.substr(0, cut));
    order.push_back(Options::parse(key, ' ').number("dimension", 0));
    if (cut == text.size()) return order;
    text.remove_prefix(cut + 1);
  }
}
}  // namespace nhalf
