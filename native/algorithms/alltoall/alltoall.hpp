// Everybody gets a block from everybody.
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
    .source = sources::bruck,
    .cost = "ceil(log2(p)) * T(p * n / 2 * log2(p) / ceil(log2(p)))",
    .messages = [](int p, std::size_t) -> std::int64_t { return p * doublings(p); },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds {
      return for_powers_of_two(p, doublings(p) * m.one_s(p / 2 * n));
    }};

/// Every rank swaps blocks with one rank after the other, beginning with rank 0: at first all wait
/// for rank 0. What a careless program does.
///
/// p (p - 1) messages. With blocks of n bytes (2 p - 3) (o_s + nG + L + o_r), where
/// g <= o_s + L + o_r: ranks i and j meet in step i + j.
template <Duplex T>
void linear(T& transport, Scratch& scratch, ConstBytes in, Bytes out) {
  const int ranks = transport.size();
  const int rank = transport.rank();
  const auto block_bytes = in.size() / static_cast<std::size_t>(ranks);
  const auto input = apart(scratch, in, out);
  place(block_of(input, rank, block_bytes), block_of(out, rank, block_bytes));
  for (int peer = 0; peer < ranks; ++peer)
    if (peer != rank)
      transport.exchange(peer, block_of(input, peer, block_bytes), peer,
                         block_of(out, peer, block_bytes));
}

inline constexpr AlgorithmInfo linear_info{
    .name = "linear",
    .what = "every rank swaps blocks with one rank after the other, beginning with rank 0",
    .source =
        "Message Passing Interface Forum, MPI: A Message-Passing Interface Standard: "
        "MPI_Alltoall as it is defined",
    .cost = "(2 * p - 3) * T(n)",
    .messages = [](int p, std::size_t) -> std::int64_t { return p * (p - 1); },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds { return (2 * p - 3) * m.one_s(n); }};

/// In step k every rank sends to the rank k further while it receives from the rank k before it.
///
/// p (p - 1) messages. With blocks of n bytes (p - 1) (o_s + nG + L + o_r), where g <= o_s + L +
/// o_r.
template <Duplex T>
void pairwise(T& transport, Scratch& scratch, ConstBytes in, Bytes out) {
  const int ranks = transport.size();
  const int rank = transport.rank();
  const auto block_bytes = in.size() / static_cast<std::size_t>(ranks);
  const auto input = apart(scratch, in, out);
  place(block_of(input, rank, block_bytes), block_of(out, rank, block_bytes));
  for (int distance = 1; distance < ranks; ++distance) {
    const int to = (rank + distance) % ranks;
    const int from = (rank - distance + ranks) % ranks;
    transport.exchange(to, block_of(input, to, block_bytes), from,
                       block_of(out, from, block_bytes));
  }
}

inline constexpr AlgorithmInfo pairwise_info{
    .name = "pairwise",
    .what = "in step k every rank sends to the rank k further",
    .source = sources::thakur,
    .cost = "(p - 1) * T(n)",
    .messages = [](int p, std::size_t) -> std::int64_t { return p * (p - 1); },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds { return (p - 1) * m.one_s(n); }};

/// One rank's blocks for or from each rank, which may differ in size.
template <class Span, class Size, class Offset>
struct Blocks {
  Span all;
  Size size_of;
  Offset offset_of;

  Span operator[](int rank) const { return all.subspan(offset_of(rank), size_of(rank)); }
};
template <class Span, class Size, class Offset>
Blocks(Span, Size, Offset) -> Blocks<Span, Size, Offset>;

/// Blocks whose sizes and offsets are numbers by rank, as MPI_Alltoallv has them.
template <class Span>
auto numbered(Span all, std::span<const int> sizes, std::span<const int> offsets) {
  const auto of = [](std::span<const int> numbers) {
    return [numbers](int rank) {
      return static_cast<std::size_t>(numbers[static_cast<std::size_t>(rank)]);
    };
  };
  return Blocks{all, of(sizes), of(offsets)};
}

/// Every rank starts its sends, to the next rank first, and then receives, from the rank before
/// first; empty blocks are no messages. At most `window` sends are under way, so that their
/// requests need no memory of their own. `out` and `in` do not overlap.
///
/// p (p - 1) messages where no block is empty. For p <= window + 1 and blocks of n bytes
/// (p - 2) max(o_s, g + nG) + o_s + max(nG + L + o_r, (p - 1) o_r) where o_r <= max(o_s, g + nG).
template <NonBlocking T, class In, class Out>
void windowed(T& transport, const In& in, const Out& out) {
  constexpr int window = 64;
  std::array<typename T::Request, window> sends;
  const int ranks = transport.size();
  const int rank = transport.rank();
  place(in[rank], out[rank]);
  for (int first = 1; first < ranks; first += window) {
    const int end = std::min(ranks, first + window);
    std::size_t started = 0;
    for (int distance = first; distance < end; ++distance) {
      const int peer = (rank + distance) % ranks;
      if (!in[peer].empty()) sends[started++] = transport.isend(peer, in[peer]);
    }
    for (int distance = first; distance < end; ++distance) {
      const int peer = (rank - distance + ranks) % ranks;
      if (!out[peer].empty()) transport.recv(peer, out[peer]);
    }
    for (std::size_t i = 0; i < started; ++i) transport.wait(sends[i]);
  }
}

/// Exchanges blocks of one size, perhaps in place: then the data is copied out of the way first.
template <NonBlocking T>
void windowed(T& transport, Scratch& scratch, ConstBytes in, Bytes out) {
  const std::size_t block_bytes = in.size() / static_cast<std::size_t>(transport.size());
  const auto size = [=](int) { return block_bytes; };
  const auto offset = [=](int rank) { return static_cast<std::size_t>(rank) * block_bytes; };
  windowed(transport, Blocks{apart(scratch, in, out), size, offset}, Blocks{out, size, offset});
}

inline constexpr AlgorithmInfo windowed_info{
    .name = "windowed",
    .what = "every rank starts its sends, 64 at most at a time, and then receives",
    .source = sources::thakur,
    .cost = "max(M(n, p - 2), R(n, p - 2)) + T(n)",
    .messages = [](int p, std::size_t n) -> std::int64_t { return n > 0 ? p * (p - 1) : 0; },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds {
      if (n == 0 || p > 65 || m.o_r > m.sends_apart_s(n)) return std::nullopt;
      return (p - 2) * m.sends_apart_s(n) + m.o_s +
             std::max(n * m.G + m.L + m.o_r, (p - 1) * m.o_r);
    }};
}  // namespace nhalf::algorithms::alltoall
