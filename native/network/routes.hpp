// What the messages of two ranks share with others on their way, and how much of it there is: what
// ranks of a node share, the links of the network, and a wire that all nodes have in common.
//
//     link 2000000000 1             bytes per second of a link, and whether directions are apart
//     topology tree switch 2 8 32 1 4 1 1
//     share 2 1 0 2300000000        ranks that share it, whether only messages between nodes pass
//                                   it, bytes per second of one way and of both ways; 0: no limit
//     memory 4000000000             for messages within a node
//     medium 1250000
#pragma once

#include <utility>

#include "network/topology.hpp"

namespace nhalf::network {
class Routes {
 public:
  /// Reads a line; whether it is one.
  bool take(std::string_view name, DescriptionLine& line) {
    if (name == "link") return line.number(link_Bps_) && line.number(is_duplex_);
    if (name == "topology") {
      const auto kind = line.word();
      return read_topology(kind, line, topology_);
    }
    if (name == "memory") return line.number(memory_Bps_);
    if (name == "medium") return line.number(medium_Bps_);
    if (name != "share") return false;
    auto& share = shares_.emplace_back();
    return line.number(share.ranks) && line.number(share.is_between_nodes) &&
           line.number(share.one_way_Bps) && line.number(share.both_ways_Bps);
  }

  /// Numbers everything, once all has been read and the node of every rank is known. Ranks send one
  /// message after the other, unless all messages are there `at_once`.
  void place(const std::vector<int>& nodes, bool at_once = false) {
    is_at_once_ = at_once;
    std::vector<int> used = nodes;
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    ranks_of_.assign(used.size(), 0);
    for (const int node : nodes) {
      const auto place = std::lower_bound(used.begin(), used.end(), node) - used.begin();
      auto& ranks = ranks_of_[static_cast<std::size_t>(place)];
      places_.push_back(
          {static_cast<std::uint32_t>(node), static_cast<std::uint32_t>(place), ranks++});
    }
    number();
  }

  /// Returns everything that a message passes, some of it twice where it leaves and arrives.
  [[nodiscard]] Way between(int from, int to) const {
    const auto& source = places_[static_cast<std::size_t>(from)];
    const auto& target = places_[static_cast<std::size_t>(to)];
    const bool is_between = source.node != target.node;
    Way way;
    for (const auto& share : shares_) pass(share, source, is_between, true, way);
    if (is_between) {
      pass_network(source, target, way);
      if (medium_Bps_ > 0) way.push_back(medium_);
    } else if (memory_Bps_ > 0) {
      way.push_back(memory_ + source.index);
    }
    for (const auto& share : shares_) pass(share, target, is_between, false, way);
    return way;
  }

  /// Returns the kind of what has a number: 0 of links, 1 of the medium, 2 of memories, and then
  /// two of each share, one way and both ways.
  [[nodiscard]] std::size_t kind(Link number) const {
    if (number < shared_) return number < links_ ? 0 : number < memory_ ? 1 : 2;
    auto share = shares_.size() - 1;
    while (shares_[share].first > number) --share;
    return 3 + 2 * share + ((number - shares_[share].first) % 3 == 2 ? 1 : 0);
  }
  /// Returns bytes per second of what has a number.
  [[nodiscard]] std::uint64_t capacity_Bps(Link number) const { return rates_Bps_[kind(number)]; }
  /// Returns how many kinds there are.
  [[nodiscard]] std::size_t kinds() const { return rates_Bps_.size(); }
  /// Returns the first of the links that could take the place of this one, and how many they are.
  [[nodiscard]] Alike alike(Link number) const {
    const auto* tree = std::get_if<FatTree>(&topology_);
    return tree != nullptr && number < links_ ? tree->alike(number) : Alike{number, 1};
  }
  /// Returns how many numbers there are.
  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  /// Where a rank is: its node, the node's number among those in use, and its own number there.
  struct Place {
    std::uint32_t node;
    std::uint32_t index;
    std::uint32_t rank;
  };
  struct Share {
    std::uint32_t ranks = 0;
    std::uint32_t is_between_nodes = 0;
    std::uint64_t one_way_Bps = 0;
    std::uint64_t both_ways_Bps = 0;
    /// The first of its numbers, and of how many groups of a node's ranks each has its own.
    Link first = 0;
    std::uint32_t groups = 1;
  };

  void number() {
    const auto used = ranks_of_.size();
    const auto most = *std::max_element(ranks_of_.begin(), ranks_of_.end());
    if (auto* star = std::get_if<Star>(&topology_)) star->nodes = static_cast<std::uint32_t>(used);
    if (auto* all = std::get_if<Direct>(&topology_)) all->nodes = static_cast<std::uint32_t>(used);
    std::uint64_t next = std::visit(
        [](const auto& kind) -> std::uint64_t {
          if constexpr (std::is_same_v<std::decay_t<decltype(kind)>, std::monostate>)
            return 0;
          else
            return kind.links();
        },
        topology_);
    links_ = medium_ = static_cast<Link>(next);
    memory_ = static_cast<Link>(++next);
    next += used;
    shared_ = static_cast<Link>(next);
    rates_Bps_ = {link_Bps_, medium_Bps_, memory_Bps_};
    for (auto& share : shares_) {
      rates_Bps_.insert(rates_Bps_.end(), {share.one_way_Bps, share.both_ways_Bps});
      share.first = static_cast<Link>(next);
      share.groups = share.ranks == 0 ? 1 : (most + share.ranks - 1) / share.ranks;
      next += std::uint64_t{3} * used * share.groups;
    }
    count_ = next;
  }

  void pass(const Share& share, const Place& place, bool is_between, bool is_out, Way& way) const {
    if (share.is_between_nodes != 0 && !is_between) return;
    const auto group = share.ranks == 0 ? 0 : place.rank / share.ranks;
    const auto first = share.first + 3 * (place.index * share.groups + group);
    if (share.one_way_Bps > 0 && !is_alone(place)) way.push_back(first + (is_out ? 0 : 1));
    if (share.both_ways_Bps > 0) way.push_back(first + 2);
  }

  void pass_network(const Place& source, const Place& target, Way& way) const {
    if (link_Bps_ == 0) return;
    const bool is_by_place =
        std::holds_alternative<Star>(topology_) || std::holds_alternative<Direct>(topology_);
    const auto from = is_by_place ? source.index : source.node;
    const auto to = is_by_place ? target.index : target.node;
    Way passed = route(topology_, from, to);
    if (is_duplex_ == 0)
      for (auto& link : passed) link &= ~Link{1};
    const bool has_node_links =
        std::holds_alternative<Star>(topology_) || std::holds_alternative<FatTree>(topology_);
    auto begin = passed.begin();
    auto end = passed.end();
    if (has_node_links && is_duplex_ != 0) {
      if (is_alone(source)) ++begin;
      if (is_alone(target)) --end;
    }
    way.insert(way.end(), begin, end);
  }
  /// The only rank of a node has the node's ways in and out for itself, and sends one message after
  /// the other anyway.
  [[nodiscard]] bool is_alone(const Place& place) const {
    return !is_at_once_ && ranks_of_[place.index] == 1;
  }

  std::uint64_t link_Bps_ = 0;
  std::uint64_t memory_Bps_ = 0;
  std::uint64_t medium_Bps_ = 0;
  int is_duplex_ = 1;
  Topology topology_;
  std::vector<Share> shares_;
  std::vector<Place> places_;
  std::vector<std::uint32_t> ranks_of_;
  /// By kinds.
  std::vector<std::uint64_t> rates_Bps_;
  bool is_at_once_ = false;
  /// Links come first, then the medium, the memories from here on, and from there what is shared.
  Link links_ = 0;
  Link medium_ = 0;
  Link memory_ = 0;
  Link shared_ = 0;
  std::uint64_t count_ = 0;
};
}  // namespace nhalf::network
