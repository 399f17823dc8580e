// Who talks to whom when several pairs of ranks play at once: spread evenly, or in rounds of a
// tournament in which every rank meets every other.
#pragma once

#include "patterns/bases/pair.hpp"

namespace nhalf {
inline constexpr std::array pairs_axes{
    AxisInfo{"pairs", "1:ranks/2:x2,ranks/2", "",
             "pairs (i, i + ranks/2) at once, spread evenly: i = j * (ranks/2) / pairs, rounded "
             "down, for j from 0 to pairs - 1"}};

/// The pair of a rank in a game of several; the bytes that all of them move, where these are not
/// those of one; and what there is to say of them.
struct Game {
  Partners partners;
  std::optional<std::uint64_t> moved_bytes{};
  std::vector<Value> values{};
};

/// The pattern Base between two ranks, played by the pairs that `game_of` chooses.
template <class Base, class T, Game (*game_of)(int rank, int ranks, const Case& point)>
class PlayedBy : public Base {
 public:
  PlayedBy(T& transport, const Case& point)
      : PlayedBy(transport, point, game_of(transport.rank(), transport.size(), point)) {}
  [[nodiscard]] std::optional<std::uint64_t> moved_bytes() const override {
    return game_.moved_bytes;
  }
  std::vector<Value> values() override { return game_.values; }

 private:
  PlayedBy(T& transport, const Case& point, Game game)
      : Base(transport, point, game.partners), game_(std::move(game)) {}

  Game game_;
};

/// The pair to which a rank belongs when `pairs` of the h = ranks/2 pairs (i, i + h) take part:
/// those with i = floor(j h / pairs), j = 0 .. pairs - 1. Nobody where it belongs to none.
inline Partners spread_pair(int rank, int ranks, int pairs) {
  const int half = ranks / 2;
  if (rank >= 2 * half) return {-1, -1};
  const long first = rank % half;
  const long place = (first * pairs + half - 1) / half;
  if (place >= pairs || place * half / pairs != first) return {-1, -1};
  return {static_cast<int>(first), static_cast<int>(first) + half};
}

/// The opponent of a player in a round from 0 on, by the circle method (D. de Werra, "Scheduling in
/// Sports", Annals of Discrete Mathematics 11, 1981): i meets j where i + j = 2 round modulo the
/// odd number of places; whom this leaves alone meets the last player, or rests (-1) where their
/// number is odd.
inline int circle_opponent(int players, int round, int player) {
  const int places = players % 2 == 0 ? players - 1 : players;
  if (player >= places) return round;
  const int opponent = ((2 * round - player) % places + places) % places;
  if (opponent != player) return opponent;
  return places < players ? places : -1;
}

/// A tournament of all ranks. Where all hosts have equally many ranks it has two levels: while two
/// hosts meet, each rank of the one plays one of the other, so that every network link is shared by
/// equally many pairs in every round; the ranks of a host meet while it rests, or in the end. All
/// meet in as many rounds as there are ranks; a last round without pairs repeats the first.
class Tournament {
 public:
  /// `hosts` holds by rank the number of its host, from 0 on; empty: one host.
  Tournament(int ranks, std::span<const int> hosts) : ranks_(ranks) {
    std::vector<std::vector<int>> members(1);
    for (int rank = 0; rank < ranks; ++rank) {
      const auto host = hosts.empty() ? 0 : static_cast<std::size_t>(hosts[index(rank)]);
      if (host >= members.size()) members.resize(host + 1);
      places_.push_back({static_cast<int>(host), static_cast<int>(members[host].size())});
      members[host].push_back(rank);
    }
    const auto differs = [&](const auto& some) { return some.size() != members[0].size(); };
    if (std::ranges::none_of(members, differs)) members_ = std::move(members);
  }

  /// By rank the opponent in a round from 0 to ranks - 1, -1 for those that rest.
  [[nodiscard]] std::vector<int> opponents(int round) const {
    std::vector<int> paired;
    for (int rank = 0; rank < ranks_; ++rank) paired.push_back(opponent(round, rank));
    const bool nobody = std::ranges::all_of(paired, [](int partner) { return partner < 0; });
    return nobody && round > 0 ? opponents(0) : paired;
  }

 private:
  /// Which host a rank is on, and which of its ranks it is.
  struct Place {
    int host = 0;
    int number = 0;
  };
  static std::size_t index(int number) { return static_cast<std::size_t>(number); }

  /// The opponent among some players, nobody where all their rounds are over.
  static int circle(int players, int round, int player) {
    const int rounds = players % 2 == 0 ? players - 1 : players;
    return round < rounds ? circle_opponent(players, round, player) : -1;
  }

  [[nodiscard]] int opponent(int round, int rank) const {
    if (members_.size() < 2) return circle(ranks_, round, rank);
    const int hosts = static_cast<int>(members_.size());
    const int ranks_per_host = static_cast<int>(members_[0].size());
    const auto [host, number] = places_[index(rank)];
    const int shift = round % ranks_per_host;
    const int other_host = circle(hosts, round / ranks_per_host, host);
    if (other_host >= 0) {
      const int met = host < other_host ? number + shift : number - shift + ranks_per_host;
      return members_[index(other_host)][index(met % ranks_per_host)];
    }
    const int met = circle(ranks_per_host, shift, number);
    return met < 0 ? -1 : members_[index(host)][index(met)];
  }

  int ranks_;
  std::vector<Place> places_;
  /// Ranks by host; empty where hosts have unequally many.
  std::vector<std::vector<int>> members_;
};

inline constexpr AxisInfo round_axis{"round", "1:ranks", "",
                                     "of a tournament in which every pair of ranks meets"};

/// One round of the tournament as a point asks for it, with axis `round` from 1 on.
class TournamentRound {
 public:
  TournamentRound(int ranks, const Case& point, bool up = true) : up_(up) {
    const int round = point.axis("round", 1, ranks);
    opponents_ = Tournament(ranks, point.hosts).opponents(round - 1);
  }

  /// The pair of a rank, the lower one first if `up`; nobody where it rests.
  [[nodiscard]] Partners partners(int rank) const {
    const int opponent = opponents_[static_cast<std::size_t>(rank)];
    if (opponent < 0) return {-1, -1};
    const auto [lower, higher] = std::minmax(rank, opponent);
    return up_ ? Partners{lower, higher} : Partners{higher, lower};
  }

  /// `peer_of_A` = B for every pair of which A is the first.
  [[nodiscard]] std::vector<Value> values() const {
    std::vector<Value> columns;
    for (int rank = 0; rank < static_cast<int>(opponents_.size()); ++rank) {
      const auto pair = partners(rank);
      if (pair.first == rank && pair.second >= 0)
        columns.push_back({"peer_of_" + std::to_string(rank), static_cast<double>(pair.second)});
    }
    return columns;
  }

 private:
  bool up_;
  std::vector<int> opponents_;
};
}  // namespace nhalf
