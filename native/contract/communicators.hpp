// What it takes until a program can communicate: starting, and groups of ranks of its own.
#pragma once

#include <concepts>

#include "contract/collectives.hpp"

namespace nhalf {

/// Groups of ranks that are made, by all ranks together, and given up again: of the same ranks
/// (`duplicate`), and of every other rank (`split`).
template <class T>
concept Communicators = Collectives<T> && requires(T& transport) {
  transport.duplicate();
  transport.split();
};

/// Seconds of two messages to a rank, one after the other, each until its answer.
struct RoundTrips {
  double first_s = -1;
  double second_s = -1;

  /// Measures them at rank 0, by `clock_s`; `send` and `recv` move a byte between two ranks.
  template <class Clock, class Send, class Recv>
  static RoundTrips of(int rank, int partner, Clock clock_s, Send send, Recv recv) {
    RoundTrips trips;
    for (double* trip_s : {&trips.first_s, &trips.second_s}) {
      if (rank == 0) {
        const double began_s = clock_s();
        send(partner);
        recv(partner);
        *trip_s = clock_s() - began_s;
      } else if (rank == partner) {
        recv(0);
        send(0);
      }
    }
    return trips;
  }
};

/// Seconds that this rank's library took to start, and rank 0's launch until then, from the call of
/// the launcher; below 0 where that is not known. And those that it took to end, once it has.
template <class T>
concept StartUp = Transport<T> && requires(T& transport) {
  { transport.initialised_s() } -> std::same_as<double>;
  { transport.launched_s() } -> std::same_as<double>;
  { T::finalised_s() } -> std::same_as<double>;
};

/// What the first two messages to a rank that was never written to before, and their answers, took
/// at rank 0; all ranks ask. Below 0 where the transport was not told to time them.
template <class T>
concept FirstMessages = Transport<T> && requires(T& transport, int partner) {
  { transport.first_messages(partner) } -> std::same_as<RoundTrips>;
};

}  // namespace nhalf
