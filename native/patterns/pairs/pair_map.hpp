// All pairs of ranks, in rounds of a tournament.
#pragma once

#include <array>

#include "patterns/bases/pairs/pingpong_loop.hpp"
#include "patterns/bases/pairs/tournament.hpp"
#include "patterns/pairs/stream.hpp"

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

inline constexpr AxisInfo pair_map_bandwidth_axes[] = {
    round_axis, {"direction", "up,down", "", "up: the lower rank of each pair sends"}};

inline constexpr PatternInfo pair_map_bandwidth{
    .name = "pair-map-bandwidth",
    .what =
        "in all pairs of a round of a tournament at once one rank pumps messages to the other, "
        "which acknowledges once at the end of a batch; each pair's own time is its sender's "
        "in rank_s",
    .rounds_min = 16,
    .acknowledged = true,
    .timing = Timing::slowest_rank,
    .axes = pair_map_bandwidth_axes};

template <Transport T>
class PairMapBandwidth : public Stream<T> {
 public:
  PairMapBandwidth(T& transport, const Case& point)
      : PairMapBandwidth(transport, point, TournamentRound(transport.size(), point, is_up(point))) {
  }
  std::vector<Value> values() override { return values_; }

 private:
  PairMapBandwidth(T& transport, const Case& point, const TournamentRound& round)
      : Stream<T>(transport, point, round.partners(transport.rank())), values_(round.values()) {}

  static bool is_up(const Case& point) {
    return point.choice("direction", std::array<std::string_view, 2>{"up", "down"}) == 0;
  }

  std::vector<Value> values_;
};
NHALF_PATTERN(pair_map_bandwidth, PairMapBandwidth);

}  // namespace nhalf
