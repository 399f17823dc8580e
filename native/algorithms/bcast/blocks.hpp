// Blocks, or halves, of the message on ways of their own.
#pragma once

#include "algorithms/bases/parts.hpp"
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

/// One of the two trees below the root, in which a rank has two children: its ranks lie `first`
/// places from the root and on.
struct HalfTree {
  int first;
  int ranks;
};

/// Each part of a half message from the root down its tree; the ranks of the other tree do nothing.
template <Transport T>
void down_half_tree(T& transport, int root, HalfTree tree, Bytes half, std::size_t part_bytes) {
  const int ranks = transport.size();
  const int place = (transport.rank() - root + ranks) % ranks;
  const int node = place - tree.first;
  const auto rank_of = [&](int of) { return (tree.first + of + root) % ranks; };
  if (tree.ranks == 0 || (place > 0 && (node < 0 || node >= tree.ranks))) return;
  for_each_part(half, part_bytes, [&](Bytes part) {
    if (place == 0) return transport.send(rank_of(0), part);
    transport.recv(node == 0 ? root : rank_of((node - 1) / 2), part);
    for (int child = 2 * node + 1; child <= 2 * node + 2 && child < tree.ranks; ++child)
      transport.send(rank_of(child), part);
  });
}

/// One half of the message goes down one tree and the other half down another; then each rank
/// swaps halves with its like in the other tree. Where one tree has a rank more, the root sends to
/// that one itself.
///
/// For a = ceil((p - 1) / 2) and b = floor((p - 1) / 2) ranks in the trees, and halves of m and m'
/// parts, a m + b m' + 2 b + (a - b) messages. About (m + m' + 2 d) (o_s + BG + L + o_r) for trees
/// of d levels and parts of B bytes, and one message of half the size.
template <Duplex T>
void split_binary(T& transport, int root, Bytes data, std::size_t part_bytes = default_part_bytes) {
  const int ranks = transport.size();
  const int place = (transport.rank() - root + ranks) % ranks;
  const HalfTree first_half{.first = 1, .ranks = ranks / 2};
  const HalfTree right{.first = 1 + ranks / 2, .ranks = ranks - 1 - ranks / 2};
  const auto left_half = data.first(data.size() - data.size() / 2);
  const auto right_half = data.last(data.size() / 2);
  down_half_tree(transport, root, first_half, left_half, part_bytes);
  down_half_tree(transport, root, right, right_half, part_bytes);
  const int alone = first_half.ranks > right.ranks ? first_half.ranks : 0;
  if (place == 0) {
    if (alone > 0) transport.send((alone + root) % ranks, right_half);
  } else if (place == alone) {
    transport.recv(root, right_half);
  } else {
    const bool is_left = place < right.first;
    const int like =
        ((is_left ? place + first_half.ranks : place - first_half.ranks) + root) % ranks;
    transport.exchange(like, is_left ? left_half : right_half, like,
                       is_left ? right_half : left_half);
  }
}

inline constexpr AlgorithmInfo split_binary_info{
    .name = "split-binary",
    .what = "two halves down two trees in parts of 8 KiB; then pairs swap halves",
    .source = sources::pjesivac,
    .cost =
        "(max(1, n / 2 / B) + max(0, floor(log2(p - 1)) - 1)) * M(min(n / 2, B), 1) + "
        "(max(1, n / 2 / B) - 1) * M(min(n / 2, B), 2) + "
        "max(1, floor(log2(p - 1))) * T(min(n / 2, B)) + T(n / 2)",
    .messages = [](int p, std::size_t n) -> std::int64_t {
      const std::int64_t first_half = p / 2;
      const std::int64_t right = p - 1 - first_half;
      return first_half * parts_of(n - n / 2) + right * parts_of(n / 2) + 2 * right +
             (first_half - right);
    }};
}  // namespace nhalf::algorithms::bcast
