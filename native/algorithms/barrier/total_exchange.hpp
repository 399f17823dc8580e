// Everybody tells everybody, in one of three ways.
#pragma once

#include "algorithms/bcast/trees.hpp"

namespace nhalf::algorithms::barrier {
/// Every rank tells every other: in step k the rank k further, while it hears the rank k before it.
///
/// p (p - 1) messages in p - 1 steps of o_s + L + o_r, where g <= o_s + L + o_r.
template <Duplex T>
void total_exchange(T& transport) {
  const int ranks = transport.size();
  const int rank = transport.rank();
  for (int distance = 1; distance < ranks; ++distance)
    transport.exchange((rank + distance) % ranks, ConstBytes{}, (rank - distance + ranks) % ranks,
                       Bytes{});
}

inline constexpr AlgorithmInfo total_exchange_info{
    .name = "total-exchange",
    .what = "every rank tells every other, the next one first",
    .source =
        "R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective Communication "
        "Operations in MPICH, IJHPCA 19(1), 2005: the pairwise exchange, without data",
    .cost = "(p - 1) * T(0)",
    .messages = [](int p, std::size_t) -> std::int64_t { return p * (p - 1); },
    .time_s = [](const LogGP& m, int p, double) -> Seconds { return (p - 1) * m.one_s(0); }};

/// Every rank tells all others by a binomial broadcast of nothing, rank 0 first.
///
/// p (p - 1) messages. At most p ceil(log2 p) (o_s + L + o_r), where g <= o_s + L + o_r; less as
/// broadcasts overlap.
template <Transport T>
void total_exchange_bcast(T& transport) {
  for (int root = 0; root < transport.size(); ++root) bcast::binomial(transport, root, Bytes{});
}

inline constexpr AlgorithmInfo total_exchange_bcast_info{
    .name = "total-exchange-bcast",
    .what = "every rank tells all others by a binomial broadcast, rank 0 first",
    .source =
        "R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective Communication "
        "Operations in MPICH, IJHPCA 19(1), 2005: the binomial broadcast, without data",
    .cost = "p * ceil(log2(p)) * T(0)",
    .messages = [](int p, std::size_t) -> std::int64_t { return p * (p - 1); },
    .time_at_most_s = [](const LogGP& m, int p, double) -> Seconds {
      return p * doublings(p) * m.one_s(0);
    }};

/// Every rank tells all others by the library's own broadcast of a byte, rank 0 first.
///
/// The messages of p broadcasts, p - 1 each in a tree; what they take is for the library to say, so
/// there is no cost.
template <Collectives T>
void total_exchange_native_bcast(T& transport) {
  // One byte: libraries return at once from a broadcast of nothing.
  std::byte flag{};
  for (int root = 0; root < transport.size(); ++root) transport.bcast(root, Bytes(&flag, 1));
}

inline constexpr AlgorithmInfo total_exchange_native_bcast_info{
    .name = "total-exchange-native-bcast",
    .what = "every rank tells all others by the library's own broadcast, rank 0 first",
    .source =
        "R. Krishnamurthy, Performance of Barriers and NAS Parallel Benchmarks on the Intel "
        "Clusters, 1998: total exchange by broadcasts",
    .messages = [](int p, std::size_t) -> std::int64_t { return p * (p - 1); }};
}  // namespace nhalf::algorithms::barrier
