// Which send belongs to which receive in a timeline, and which calls are one collective operation:
// MPI keeps the order of messages with the same ends, communicator and tag, and of the operations
// of a rank on a communicator.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "replay/columns.hpp"

namespace nhalf::replay {
/// Calls by rank, thread, start and order. Of those that begin together the order is that of
/// `order`, whose first values say what a call is.
struct Timeline {
  Column<const Number> rank, thread, partner, communicator, tag;
  Column<const double> start_s;
  Column<const std::int64_t> size_bytes;
  Column<const std::uint8_t> order;
};

/// By call its number among its like, 0 of others, and its message, -1 if it has none. Messages are
/// in the order of source, target, communicator, tag and number; by message the places of both its
/// ends and its route. Routes are in the order of source, target and size. There is room for as
/// many messages and routes as half of the calls.
struct Pairing {
  Column<Number> number, message;
  Column<Number> sent, received, route;
  Column<Number> source, target;
  Column<std::int64_t> size_bytes;
  std::int64_t messages, routes;
};

class Matching {
  enum Order : std::uint8_t { sends, receives, collective };
  using Key = std::array<Number, 4>;
  struct Hash {
    std::size_t operator()(const Key& key) const {
      std::uint64_t mixed = 0;
      for (const auto part : key)
        mixed = (mixed ^ static_cast<std::uint32_t>(part)) * 0x9e3779b97f4a7c15u;
      return mixed ^ mixed >> 32;
    }
  };
  struct Channel {
    Number sent = 0, received = 0;
    Place first = 0;
    /// The size and the route of its last message.
    std::int64_t size_bytes = -1;
    Number route = -1;
  };
  using Route = std::tuple<Number, Number, std::int64_t>;

 public:
  explicit Matching(const Timeline& calls) : calls_(calls) {}

  /// Whether calls are in their order.
  [[nodiscard]] bool are_ordered() const {
    const auto key = [this](Place call) {
      return std::tuple(calls_.rank[call], calls_.thread[call], calls_.start_s[call],
                        calls_.order[call]);
    };
    for (Place call = 1; call < calls_.rank.size; ++call)
      if (key(call) < key(call - 1)) return false;
    return true;
  }

  void find(Pairing& pairing) {
    // Where the message will be, there is the channel until it is known.
    const auto& channel_of = pairing.message;
    for_each_in_turn([&](Place call) {
      pairing.number[call] = 0;
      channel_of[call] = -1;
      const auto order = calls_.order[call];
      if (order > collective || (order != collective && calls_.partner[call] < 0)) return;
      const auto place = channel(call);
      channel_of[call] = place;
      auto& own = channels_[static_cast<std::size_t>(place)];
      pairing.number[call] = order == receives ? own.received++ : own.sent++;
    });
    pairing.messages = number_messages();
    for (Place call = 0; call < calls_.rank.size; ++call) {
      const auto place = channel_of[call];
      if (place < 0) continue;
      auto& own = channels_[static_cast<std::size_t>(place)];
      const auto number = pairing.number[call];
      const bool is_paired = number < std::min(own.sent, own.received);
      const auto message = pairing.message[call] =
          is_paired ? static_cast<Number>(own.first + number) : -1;
      if (!is_paired) continue;
      const bool is_send = calls_.order[call] == sends;
      (is_send ? pairing.sent : pairing.received)[message] = static_cast<Number>(call);
      if (is_send) pairing.route[message] = route(own, call);
    }
    number_routes(pairing);
  }

 private:
  /// Calls visit calls as the threads of a rank began them.
  template <class Visit>
  void for_each_in_turn(Visit visit) const {
    const auto count = calls_.rank.size;
    const bool has_threads =
        !std::all_of(calls_.thread.data, calls_.thread.data + count,
                     [this](Number thread) { return thread == calls_.thread[0]; });
    if (!has_threads) {
      for (Place call = 0; call < count; ++call) visit(call);
      return;
    }
    std::vector<Number> turns(static_cast<std::size_t>(count));
    std::iota(turns.begin(), turns.end(), 0);
    std::ranges::stable_sort(turns, {}, [this](Number call) {
      return std::pair(calls_.start_s[call], calls_.thread[call]);
    });
    for (const auto call : turns) visit(call);
  }

  /// The channel of a message; operations have one without a target.
  Number channel(Place call) {
    Key key{calls_.rank[call], calls_.partner[call], calls_.communicator[call], calls_.tag[call]};
    if (calls_.order[call] == receives) std::swap(key[0], key[1]);
    if (calls_.order[call] == collective) key[1] = key[3] = -1;
    // Few channels at a time are in use, each again and again.
    auto& recent = recent_[Hash{}(key) % recent_.size()];
    if (recent.second >= 0 && recent.first == key) return recent.second;
    const auto [entry, is_new] = places_.try_emplace(key, static_cast<Number>(channels_.size()));
    if (is_new) channels_.emplace_back();
    recent = *entry;
    return recent.second;
  }

  /// The route of a message that is sent, by the order in which routes were met.
  Number route(Channel& own, Place call) {
    if (own.route >= 0 && own.size_bytes == calls_.size_bytes[call]) return own.route;
    own.size_bytes = calls_.size_bytes[call];
    const Route met{calls_.rank[call], calls_.partner[call], own.size_bytes};
    return own.route = routes_.try_emplace(met, static_cast<Number>(routes_.size())).first->second;
  }

  /// Writes routes in their order.
  void number_routes(Pairing& pairing) const {
    std::vector<Number> places(routes_.size());
    for (const auto& [met, number] : routes_) {
      const auto place = pairing.routes++;
      places[static_cast<std::size_t>(number)] = static_cast<Number>(place);
      std::tie(pairing.source[place], pairing.target[place], pairing.size_bytes[place]) = met;
    }
    for (Place message = 0; message < pairing.messages; ++message)
      pairing.route[message] = places[static_cast<std::size_t>(pairing.route[message])];
  }

  /// Gives each channel the place of its first message; returns how many there are.
  Place number_messages() {
    std::vector<std::pair<Key, Number>> sorted(places_.begin(), places_.end());
    std::ranges::sort(sorted);
    Place count = 0;
    for (const auto& [key, place] : sorted) {
      auto& own = channels_[static_cast<std::size_t>(place)];
      own.first = count;
      count += std::min(own.sent, own.received);
    }
    return count;
  }

  const Timeline& calls_;
  std::unordered_map<Key, Number, Hash> places_;
  std::vector<std::pair<Key, Number>> recent_{1024, {Key{}, -1}};
  std::vector<Channel> channels_;
  std::map<Route, Number> routes_;
};
}  // namespace nhalf::replay
