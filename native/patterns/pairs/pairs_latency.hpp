#pragma once

#include "patterns/bases/pairs/pingpong_loop.hpp"
#include "patterns/bases/pairs/spread_pairs.hpp"

namespace nhalf {

inline constexpr PatternInfo pairs_latency{
    .name = "pairs-latency",
    .what = "several pairs of ranks play ping-pong at once; half the round trip of the slowest",
    .messages_per_round = 2,
    .timing = Timing::slowest_rank,
    .axes = pairs_axes};

template <Transport T>
class PairsLatency : public PingPongLoop<T> {
 public:
  PairsLatency(T& transport, const Case& point)
      : PingPongLoop<T>(
            transport, point,
            spread_pair(transport.rank(), transport.size(), pairs_of(point, transport.size()))) {}
  void run(std::uint64_t rounds) override { this->loop(rounds); }
};
NHALF_PATTERN(pairs_latency, PairsLatency);

}  // namespace nhalf
