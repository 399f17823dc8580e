#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "contract/algorithm.hpp"

namespace nhalf::algorithms::alltoall {

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
    .source =
        "R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective Communication "
        "Operations in MPICH, IJHPCA 19(1), 2005",
    .cost = "max(M(n, p - 2), R(n, p - 2)) + T(n)",
    .messages = [](int p, std::size_t n) -> std::int64_t { return n > 0 ? p * (p - 1) : 0; },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds {
      if (n == 0 || p > 65 || m.o_r > m.sends_apart_s(n)) return std::nullopt;
      return (p - 2) * m.sends_apart_s(n) + m.o_s +
             std::max(n * m.G + m.L + m.o_r, (p - 1) * m.o_r);
    }};

}  // namespace nhalf::algorithms::alltoall
