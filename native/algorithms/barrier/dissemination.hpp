// In rounds everybody tells somebody else; who has heard from all in time goes on.
#pragma once

#include "contract/algorithm.hpp"

namespace nhalf::algorithms::barrier {
/// In round i every rank tells the rank 2^i further, and hears from the rank 2^i before it, that it
/// has come.
///
/// p ceil(log2 p) messages in ceil(log2 p) rounds of o_s + L + o_r, where g <= o_s + L + o_r.
template <Duplex T>
void dissemination(T& transport) {
  const int ranks = transport.size();
  const int rank = transport.rank();
  for (int distance = 1; distance < ranks; distance *= 2)
    transport.exchange((rank + distance) % ranks, ConstBytes{}, (rank - distance + ranks) % ranks,
                       Bytes{});
}

inline constexpr AlgorithmInfo dissemination_info{
    .name = "dissemination",
    .what = "in round i every rank tells the rank 2^i further that it has come",
    .source = sources::hensgen,
    .cost = "ceil(log2(p)) * T(0)",
    .messages = [](int p, std::size_t) -> std::int64_t { return p * doublings(p); },
    .time_s = [](const LogGP& m, int p, double) -> Seconds { return doublings(p) * m.one_s(0); }};

/// Dissemination where every rank has one flag per round that nobody else writes: receives that are
/// all posted before the first send. Two sets of flags that take turns (parity) and change their
/// meaning (sense) keep episodes apart in memory; messages of a pair keep their order, which does
/// the same here.
///
/// p ceil(log2 p) messages in ceil(log2 p) rounds of o_s + L + o_r, where g <= o_s + L + o_r.
template <NonBlocking T>
void dissemination_mcs(T& transport) {
  constexpr std::size_t rounds_max = 31;
  std::array<typename T::Request, rounds_max> flags;
  const int ranks = transport.size();
  const int rank = transport.rank();
  const auto rounds = doublings(ranks);
  for (int round = 0; round < rounds; ++round)
    flags[static_cast<std::size_t>(round)] =
        transport.irecv((rank - (1 << round) + ranks) % ranks, Bytes{});
  for (int round = 0; round < rounds; ++round) {
    transport.send((rank + (1 << round)) % ranks, ConstBytes{});
    transport.wait(flags[static_cast<std::size_t>(round)]);
  }
}

inline constexpr AlgorithmInfo dissemination_mcs_info{
    .name = "dissemination-mcs",
    .what = "dissemination with a flag per round: all receives are posted before the first send",
    .source = sources::mellor_crummey,
    .cost = "ceil(log2(p)) * T(0)",
    .messages = [](int p, std::size_t) -> std::int64_t { return p * doublings(p); },
    .time_s = [](const LogGP& m, int p, double) -> Seconds { return doublings(p) * m.one_s(0); }};
}  // namespace nhalf::algorithms::barrier
