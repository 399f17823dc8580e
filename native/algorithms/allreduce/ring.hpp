#pragma once

#include <cmath>

#include "algorithms/bases/folding.hpp"
#include "contract/algorithm.hpp"

namespace nhalf::algorithms::allreduce {

/// Pieces of the vector go round a ring twice: once every rank adds to what passes, and once it
/// keeps what passes.
///
/// 2 p (p - 1) messages. For n bytes in p even pieces 2 (p - 1) (o_s + (n / p) G + L + o_r), where
/// g <= o_s + L + o_r; adding costs nothing in LogGP.
template <Duplex T>
void ring(T& transport, Scratch& scratch, ConstBytes in, Bytes out) {
  const int ranks = transport.size();
  const int rank = transport.rank();
  const int next = (rank + 1) % ranks;
  const int before = (rank + ranks - 1) % ranks;
  const EvenPieces start_of{in.size(), ranks, element_bytes(transport)};
  const auto piece = [&](int number) {
    const int own = (number + ranks) % ranks;
    return pieces(out, start_of, own, own + 1);
  };
  const auto room = scratch.bytes(in.size());
  place(in, out);
  for (int step = 0; step < ranks - 1; ++step) {
    const auto growing = piece(before - step);
    const auto received = room.first(growing.size());
    transport.exchange(next, piece(rank - step), before, received);
    combine(transport, received, growing);
  }
  for (int step = 0; step < ranks - 1; ++step)
    transport.exchange(next, piece(next - step), before, piece(rank - step));
}

inline constexpr AlgorithmInfo ring_info{
    .name = "ring",
    .what = "pieces of the vector go round a ring twice: to be summed, and to be kept",
    .source =
        "P. Patarasuk, X. Yuan, Bandwidth Optimal All-reduce Algorithms for Clusters of "
        "Workstations, Journal of Parallel and Distributed Computing 69(2), 2009",
    .cost = "2 * (p - 1) * T(n / p)",
    .messages = [](int p, std::size_t) -> std::int64_t { return 2 * p * (p - 1); },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds {
      if (std::fmod(n, 4 * p) != 0) return std::nullopt;
      return 2 * (p - 1) * m.one_s(n / p);
    }};

}  // namespace nhalf::algorithms::allreduce
