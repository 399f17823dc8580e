// Algorithms for powers of two on any number of ranks: some ranks act for two, and blocks of a
// vector are halved and doubled among those that act. After R. Rabenseifner, "Optimization of
// Collective Reduction Operations", ICCS 2004.
#pragma once

#include "contract/buffer.hpp"

namespace nhalf {
/// The first 2 (p - 2^k) of p places act in pairs: the first of a pair for both.
struct Folding {
  int places;

  [[nodiscard]] constexpr int actors() const {
    return static_cast<int>(std::bit_floor(static_cast<unsigned>(places)));
  }
  [[nodiscard]] constexpr int pairs() const { return places - actors(); }
  [[nodiscard]] constexpr bool is_paired(int place) const { return place < 2 * pairs(); }
  [[nodiscard]] constexpr bool acts(int place) const { return !is_paired(place) || place % 2 == 0; }
  /// The number of the actor at a place, and the place of an actor; one too far is allowed.
  [[nodiscard]] constexpr int actor_at(int place) const {
    return is_paired(place) ? place / 2 : place - pairs();
  }
  [[nodiscard]] constexpr int place_of(int actor) const {
    return actor < pairs() ? 2 * actor : actor + pairs();
  }
  /// Messages of all actors that each talk to one other in every doubling.
  [[nodiscard]] constexpr std::int64_t messages() const {
    return static_cast<std::int64_t>(actors()) * std::countr_zero(static_cast<unsigned>(actors()));
  }
};

/// A place's vector goes to the actor of its pair, which adds it to its own.
template <Transport T, class RankOf>
void fold(T& transport, Folding folding, int place, RankOf rank_of, Bytes sum, Bytes received) {
  if (!folding.is_paired(place)) return;
  if (!folding.acts(place)) return transport.send(rank_of(place - 1), sum);
  transport.recv(rank_of(place + 1), received);
  combine(transport, received, sum);
}

/// The actor of a pair gives `data` to the other one.
template <Transport T, class RankOf>
void unfold(T& transport, Folding folding, int place, RankOf rank_of, Bytes data) {
  if (!folding.is_paired(place)) return;
  if (folding.acts(place)) return transport.send(rank_of(place + 1), data);
  transport.recv(rank_of(place - 1), data);
}

/// The vector cut into pieces, one per actor: the bytes of actors `first` to `end` - 1, where
/// `start_of` tells at which byte an actor's piece begins (also for one too far).
template <class StartOf>
Bytes pieces(Bytes vector, StartOf start_of, int first, int end) {
  return vector.subspan(start_of(first), start_of(end) - start_of(first));
}

/// Recursive halving: two actors at half the distance of the step before send each other half of
/// what they hold, and add. In the end each has the sum of its own piece, in its place in `sum`.
template <Duplex T, class RankOf, class StartOf>
void halve(T& transport, int actors, int actor, RankOf rank_of, StartOf start_of, Bytes sum,
           Bytes received) {
  int first = 0;
  for (int half = actors / 2; half > 0; half /= 2) {
    const bool is_low = actor < first + half;
    const auto low = pieces(sum, start_of, first, first + half);
    const auto high = pieces(sum, start_of, first + half, first + 2 * half);
    const auto own_half = is_low ? low : high;
    const int peer = rank_of(actor ^ half);
    transport.exchange(peer, is_low ? high : low, peer, received.first(own_half.size()));
    combine(transport, received.first(own_half.size()), own_half);
    if (!is_low) first += half;
  }
}

/// Recursive doubling: two actors at twice the distance of the step before send each other all
/// pieces that they hold, at first their own. In the end each has all.
template <Duplex T, class RankOf, class StartOf>
void double_up(T& transport, int actors, int actor, RankOf rank_of, StartOf start_of,
               Bytes vector) {
  for (int held = 1; held < actors; held *= 2) {
    const int first = actor / held * held;
    const int peer_first = first ^ held;
    const int peer = rank_of(actor ^ held);
    transport.exchange(peer, pieces(vector, start_of, first, first + held), peer,
                       pieces(vector, start_of, peer_first, peer_first + held));
  }
}

/// Where the pieces of a vector begin that is cut as evenly as whole elements allow.
struct EvenPieces {
  std::size_t size_bytes;
  int count;
  std::size_t element_bytes = sizeof(float);

  constexpr std::size_t operator()(int piece) const {
    const auto elements = size_bytes / element_bytes;
    return elements * static_cast<std::size_t>(piece) / static_cast<std::size_t>(count) *
           element_bytes;
  }
};
}  // namespace nhalf
