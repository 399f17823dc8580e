// Arrival up a tree of four children each, and three ways to wake up.
#pragma once

#include "algorithms/bcast/trees.hpp"

namespace nhalf::algorithms::barrier {
/// Waits for up to four children, 4 i + 1 to 4 i + 4, and then tells the parent (i - 1) / 4.
template <Transport T>
void arrive_by_fours(T& transport) {
  const int rank = transport.rank();
  const int end = std::min(transport.size(), 4 * rank + 5);
  for (int child = 4 * rank + 1; child < end; ++child) transport.recv(child, Bytes{});
  if (rank > 0) transport.send((rank - 1) / 4, ConstBytes{});
}

/// A bound on the time until rank 0 knows that all have come: levels by what one of them takes.
constexpr double arrival_at_most_s(const LogGP& m, int p) {
  const int levels = (doublings(3 * p + 1) + 1) / 2 - 1;
  return levels * (m.one_s(0) + 3 * m.receives_apart_s(0));
}

/// Arrival up a tree of four children each, wake-up down a tree of two.
///
/// 2 (p - 1) messages. At most (ceil(log4(3 p + 1)) - 1) (o_s + L + o_r + 3 max(o_r, g)) to arrive,
/// and floor(log2 p) (o_s + L + o_r + max(o_s, g)) to wake up.
template <Transport T>
void mcs_tree(T& transport) {
  arrive_by_fours(transport);
  wake_by_twos(transport);
}

inline constexpr AlgorithmInfo mcs_tree_info{
    .name = "mcs-tree",
    .what = "arrival up a tree of four children each, wake-up down a tree of two",
    .source = sources::mellor_crummey,
    .cost =
        "(ceil(log2(3 * p + 1) / 2) - 1) * (T(0) + R(0, min(3, p - 2))) + "
        "floor(log2(p)) * T(0) + floor(log2(p - 1)) * M(0, 1)",
    .messages = [](int p, std::size_t) -> std::int64_t { return 2 * (p - 1); },
    .time_at_most_s = [](const LogGP& m, int p, double) -> Seconds {
      return arrival_at_most_s(m, p) + (doublings(p + 1) - 1) * (m.one_s(0) + m.sends_apart_s(0));
    }};

/// Arrival up a tree of four children each, wake-up by a binomial broadcast of nothing.
///
/// 2 (p - 1) messages. At most (ceil(log4(3 p + 1)) - 1) (o_s + L + o_r + 3 max(o_r, g)) to arrive,
/// and ceil(log2 p) (o_s + L + o_r) to wake up, where g <= o_s + L + o_r.
template <Transport T>
void mcs_tree_bcast(T& transport) {
  arrive_by_fours(transport);
  bcast::binomial(transport, 0, Bytes{});
}

inline constexpr AlgorithmInfo mcs_tree_bcast_info{
    .name = "mcs-tree-bcast",
    .what = "arrival up a tree of four children each, wake-up by a binomial broadcast",
    .source = sources::mellor_crummey,
    .cost =
        "(ceil(log2(3 * p + 1) / 2) - 1) * (T(0) + R(0, min(3, p - 2))) + "
        "ceil(log2(p)) * T(0)",
    .messages = [](int p, std::size_t) -> std::int64_t { return 2 * (p - 1); },
    .time_at_most_s = [](const LogGP& m, int p, double) -> Seconds {
      return arrival_at_most_s(m, p) + doublings(p) * m.one_s(0);
    }};

/// Arrival up a tree of four children each, wake-up by the library's own broadcast of a byte.
///
/// p - 1 messages and those of the broadcast, p - 1 in a tree; what it takes is for the library to
/// say, so there is no cost.
template <Collectives T>
void mcs_tree_native_bcast(T& transport) {
  arrive_by_fours(transport);
  wake_by_library(transport);
}

inline constexpr AlgorithmInfo mcs_tree_native_bcast_info{
    .name = "mcs-tree-native-bcast",
    .what = "arrival up a tree of four children each, wake-up by the library's own broadcast",
    .source = sources::mellor_crummey,
    .messages = [](int p, std::size_t) -> std::int64_t { return 2 * (p - 1); }};
}  // namespace nhalf::algorithms::barrier
