#pragma once

#include "contract/algorithm.hpp"

namespace nhalf::algorithms::alltoall {

/// Blocks are put in the order of how far they have to go. In step i those travel whose distance
/// has bit i, 2^i ranks further, all in one message.
///
/// p ceil(log2 p) messages. For p = 2^k and blocks of n bytes k (o_s + (p / 2) nG + L + o_r), where
/// g <= o_s + L + o_r; copying costs nothing in LogGP.
template <Duplex T>
void bruck(T& transport, Scratch& scratch, ConstBytes in, Bytes out) {
  const int ranks = transport.size();
  const int rank = transport.rank();
  const auto block_bytes = in.size() / static_cast<std::size_t>(ranks);
  const auto room = scratch.bytes(3 * in.size());
  const auto moving = room.first(in.size());
  const auto packed = room.subspan(in.size(), in.size());
  const auto received = room.last(in.size());
  const auto for_each_with = [&](int bit, auto action) {
    int count = 0;
    for (int distance = bit; distance < ranks; ++distance)
      if ((distance & bit) != 0) action(block_of(moving, distance, block_bytes), count++);
    return static_cast<std::size_t>(count) * block_bytes;
  };
  for (int distance = 0; distance < ranks; ++distance)
    place(block_of(in, (rank + distance) % ranks, block_bytes),
          block_of(moving, distance, block_bytes));
  for (int bit = 1; bit < ranks; bit *= 2) {
    const auto sent = for_each_with(
        bit, [&](Bytes block, int number) { place(block, block_of(packed, number, block_bytes)); });
    transport.exchange((rank + bit) % ranks, packed.first(sent), (rank - bit + ranks) % ranks,
                       received.first(sent));
    for_each_with(bit, [&](Bytes block, int number) {
      place(block_of(received, number, block_bytes), block);
    });
  }
  for (int distance = 0; distance < ranks; ++distance)
    place(block_of(moving, distance, block_bytes),
          block_of(out, (rank - distance + ranks) % ranks, block_bytes));
}

inline constexpr AlgorithmInfo bruck_info{
    .name = "bruck",
    .what = "in step i blocks travel 2^i ranks whose distance has bit i, all in one message",
    .source =
        "J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby, Efficient Algorithms for "
        "All-to-All Communications in Multiport Message-Passing Systems, IEEE TPDS 8(11), "
        "1997",
    .cost = "ceil(log2(p)) * T(p * n / 2 * log2(p) / ceil(log2(p)))",
    .messages = [](int p, std::size_t) -> std::int64_t { return p * doublings(p); },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds {
      return for_powers_of_two(p, doublings(p) * m.one_s(p / 2 * n));
    }};

}  // namespace nhalf::algorithms::alltoall
