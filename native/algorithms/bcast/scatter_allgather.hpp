#pragma once

#include <algorithm>
#include <cmath>

#include "contract/algorithm.hpp"

namespace nhalf::algorithms::bcast {

/// The part of a message that belongs to places `first` to `end` - 1 where p places have equal
/// blocks of it; the last ones may have less or nothing.
inline Bytes blocks_between(Bytes data, int first, int end, int places) {
  const auto count = static_cast<std::size_t>(places);
  const auto block_bytes = (data.size() + count - 1) / count;
  const auto at = std::min(data.size(), static_cast<std::size_t>(first) * block_bytes);
  const auto stop = std::min(data.size(), static_cast<std::size_t>(end) * block_bytes);
  return data.subspan(at, stop - at);
}

/// Blocks of the message are scattered down a binomial tree, and then go round a ring.
///
/// p - 1 messages and p (p - 1) more. For p = 2^k and n bytes that p divides, where
/// g <= o_s + L + o_r, (log2 p + p - 1) (o_s + L + o_r) + 2 (p - 1) / p nG.
template <Duplex T>
void scatter_allgather(T& transport, int root, Bytes data) {
  const int ranks = transport.size();
  const int place = (transport.rank() - root + ranks) % ranks;
  const auto rank_at = [&](int at) { return (at + root) % ranks; };
  // The root has 2^k places to serve; another one as many as its number has zeros at its end.
  int served = 1;
  while (served < ranks && place % (2 * served) == 0) served *= 2;
  const auto between = [&](int first, int end) {
    return blocks_between(data, first, std::min(end, ranks), ranks);
  };
  if (place > 0) transport.recv(rank_at(place - served), between(place, place + served));
  for (int half = served / 2; half > 0; half /= 2)
    if (place + half < ranks)
      transport.send(rank_at(place + half), between(place + half, place + 2 * half));
  for (int step = 0; step < ranks - 1; ++step) {
    const int passed = (place - step + ranks) % ranks;
    const int coming = (place - step - 1 + ranks) % ranks;
    transport.exchange(rank_at(place + 1), between(passed, passed + 1), rank_at(place + ranks - 1),
                       between(coming, coming + 1));
  }
}

inline constexpr AlgorithmInfo scatter_allgather_info{
    .name = "scatter-allgather",
    .what = "blocks are scattered down a binomial tree, and then go round a ring",
    .source =
        "M. Barnett, S. Gupta, D. Payne, L. Shuler, R. van de Geijn, J. Watts, "
        "Interprocessor Collective Communication Library (InterCom), SHPCC 1994",
    .cost = "ceil(log2(p)) * T(n * (p - 1) / p / ceil(log2(p))) + (p - 1) * T(n / p)",
    .messages = [](int p, std::size_t) -> std::int64_t { return (p + 1) * (p - 1); },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds {
      if (std::fmod(n, p) != 0) return std::nullopt;
      return for_powers_of_two(p, (doublings(p) + p - 1) * m.one_s(0) + 2 * n / p * (p - 1) * m.G);
    }};

}  // namespace nhalf::algorithms::bcast
