// All tell rank 0 that they have come; it tells them in one of three ways.
#pragma once

#include "algorithms/bcast/trees.hpp"

namespace nhalf::algorithms::barrier {
/// All tell rank 0, which hears them one after the other.
template <Transport T>
void arrive_at_centre(T& transport) {
  if (transport.rank() > 0) return transport.send(0, ConstBytes{});
  for (int peer = 1; peer < transport.size(); ++peer) transport.recv(peer, Bytes{});
}

/// Rank 0 tells all others, one after the other.
template <Transport T>
void leave_from_centre(T& transport) {
  if (transport.rank() > 0) return transport.recv(0, Bytes{});
  for (int peer = 1; peer < transport.size(); ++peer) transport.send(peer, ConstBytes{});
}

/// All tell rank 0 that they have come, and it answers them.
///
/// 2 (p - 1) messages. 2 (o_s + L + o_r) + (p - 2) (max(o_r, g) + max(o_s, g)).
template <Transport T>
void central(T& transport) {
  arrive_at_centre(transport);
  leave_from_centre(transport);
}

inline constexpr AlgorithmInfo central_info{
    .name = "central",
    .what = "all tell rank 0 that they have come, and it answers them",
    .source = sources::mellor_crummey_centralised,
    .cost = "R(0, p - 2) + M(0, p - 2) + 2 * T(0)",
    .messages = [](int p, std::size_t) -> std::int64_t { return 2 * (p - 1); },
    .time_s = [](const LogGP& m, int p, double) -> Seconds {
      return 2 * m.one_s(0) + (p - 2) * (m.receives_apart_s(0) + m.sends_apart_s(0));
    }};

/// All tell rank 0 that they have come; it answers with a binomial broadcast of nothing.
///
/// 2 (p - 1) messages. For p = 2^k (k + 1) (o_s + L + o_r) + (p - 2) max(o_r, g), where
/// g <= o_s + L + o_r.
template <Transport T>
void central_bcast(T& transport) {
  arrive_at_centre(transport);
  bcast::binomial(transport, 0, Bytes{});
}

inline constexpr AlgorithmInfo central_bcast_info{
    .name = "central-bcast",
    .what = "all tell rank 0 that they have come; it answers with a binomial broadcast",
    .source = sources::mellor_crummey_centralised,
    .cost = "R(0, p - 2) + (ceil(log2(p)) + 1) * T(0)",
    .messages = [](int p, std::size_t) -> std::int64_t { return 2 * (p - 1); },
    .time_s = [](const LogGP& m, int p, double) -> Seconds {
      return for_powers_of_two(p,
                               (doublings(p) + 1) * m.one_s(0) + (p - 2) * m.receives_apart_s(0));
    }};

/// All tell rank 0 that they have come; it answers with the library's own broadcast of a byte.
///
/// p - 1 messages and those of the broadcast, p - 1 in a tree; what it takes is for the library to
/// say, so there is no cost.
template <Collectives T>
void central_native_bcast(T& transport) {
  arrive_at_centre(transport);
  wake_by_library(transport);
}

inline constexpr AlgorithmInfo central_native_bcast_info{
    .name = "central-native-bcast",
    .what = "all tell rank 0 that they have come; the library's own broadcast wakes them up",
    .source = sources::mellor_crummey_centralised,
    .messages = [](int p, std::size_t) -> std::int64_t { return 2 * (p - 1); }};
}  // namespace nhalf::algorithms::barrier
