// An order of the nodes of a torus in which each is one step up from the one before.
#pragma once

#include <numeric>

#include "multicast/bases/multicast.hpp"

namespace nhalf {
/// A closed walk through all nodes of a torus by single steps up, also on rings of one way.
///
/// It is the modular Gray code. For k x k nodes a node at (x, y) has place k x + (x + y) mod k
/// (D. Robinson, P. McKinley, B. Cheng, "Path-based multicast communication in wormhole-routed
/// unidirectional torus networks", Journal of Parallel and Distributed Computing 45, 1997). With
/// more dimensions every further digit adds the digit before in the same way; that closes where
/// each size divides the one before, so that they are taken from the largest to the smallest.
class TorusOrder {
 public:
  /// Throws InputError for a topology without such an order: no torus, or sizes that do not divide
  /// each other.
  explicit TorusOrder(const Topology& topology) : topology_(topology) {
    dimensions_.resize(topology.dimensions().size());
    std::iota(dimensions_.begin(), dimensions_.end(), std::size_t{0});
    const auto size = [&](std::size_t dimension) { return topology.dimensions()[dimension]; };
    std::ranges::stable_sort(dimensions_, std::ranges::greater{}, size);
    for (std::size_t i = 1; i < dimensions_.size(); ++i)
      if (size(dimensions_[i - 1]) % size(dimensions_[i]) != 0)
        throw InputError("rings of " + std::to_string(size(dimensions_[i - 1])) + " and " +
                         std::to_string(size(dimensions_[i])) +
                         " nodes have no closed order: sizes of dimensions divide each other");
  }

  /// From 0 to the number of nodes - 1.
  [[nodiscard]] int place(int node) const {
    int place = 0;
    int digit = 0;
    for (const auto dimension : dimensions_) {
      const int size = topology_.dimensions()[dimension];
      digit = (digit + topology_.coordinate(node, dimension)) % size;
      place = place * size + digit;
    }
    return place;
  }

  /// The source of a multicast, then its destinations as the walk meets them.
  [[nodiscard]] std::vector<int> of(const Multicast& multicast) const {
    const int nodes = topology_.nodes();
    const int first = place(multicast.source);
    std::vector<int> order{multicast.source};
    order.insert(order.end(), multicast.destinations.begin(), multicast.destinations.end());
    std::ranges::sort(order, {}, [&](int node) { return (place(node) - first + nodes) % nodes; });
    return order;
  }

 private:
  const Topology& topology_;
  std::vector<std::size_t> dimensions_;
};
}  // namespace nhalf
