#pragma once

#include "patterns/bases/pairs/pingpong_loop.hpp"
#include "patterns/bases/pairs/tournament.hpp"

namespace nhalf {

inline constexpr AxisInfo pair_map_latency_axes[] = {round_axis};

inline constexpr PatternInfo pair_map_latency{
    .name = "pair-map-latency",
    .what =
        "ping-pong of all pairs of a round of a tournament at once; half the round trip of the "
        "slowest, each pair's own in rank_s",
    .messages_per_round = 2,
    .timing = Timing::slowest_rank,
    .axes = pair_map_latency_axes};

template <Transport T>
class PairMapLatency : public PingPongLoop<T> {
 public:
  PairMapLatency(T& transport, const Case& point)
      : PairMapLatency(transport, point, TournamentRound(transport.size(), point)) {}
  void run(std::uint64_t rounds) override { this->loop(rounds); }
  std::vector<Value> values() override { return values_; }

 private:
  PairMapLatency(T& transport, const Case& point, const TournamentRound& round)
      : PingPongLoop<T>(transport, point, round.partners(transport.rank())),
        values_(round.values()) {}

  std::vector<Value> values_;
};

NHALF_PATTERN(pair_map_latency, PairMapLatency);

}  // namespace nhalf
