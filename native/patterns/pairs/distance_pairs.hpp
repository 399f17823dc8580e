// Any two ranks while all others wait, and several pairs of ranks at once.
#pragma once

#include "patterns/bases/pairs/partners.hpp"
#include "patterns/bases/pairs/pingpong_loop.hpp"
#include "patterns/pairs/stream_bibw.hpp"

namespace nhalf {
inline constexpr AxisInfo distance_axes[] = {
    {"first", "0:ranks-2", "", "the rank that sends first"},
    {"second", "first+1:ranks-1", "", "the rank that answers"}};

inline constexpr PatternInfo distance_info{
    .name = "distance",
    .what = "ping-pong between any two ranks while all others wait; half the round trip",
    .messages_per_round = 2,
    .timing = Timing::slowest_rank,
    .axes = distance_axes};

template <Transport T>
class Distance : public PingPongLoop<T> {
 public:
  Distance(T& transport, const Case& point)
      : PingPongLoop<T>(transport, point, partners(point, transport.size())) {}
  void run(std::uint64_t rounds) override { this->loop(rounds); }

 private:
  static Partners partners(const Case& point, int ranks) {
    const int first = point.axis("first", 0, ranks - 2);
    return {first, point.axis("second", first + 1, ranks - 1)};
  }
};
NHALF_PATTERN(distance_info, Distance);

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

inline constexpr PatternInfo pairs_bandwidth{
    .name = "pairs-bandwidth",
    .what =
        "in several pairs at once one rank pumps messages to the other, which acknowledges once "
        "at the end of a batch; the bytes of all pairs in the time of the slowest",
    .rounds_min = 16,
    .acknowledged = true,
    .timing = Timing::slowest_rank,
    .axes = pairs_axes};

template <Transport T>
class PairsBandwidth : public Stream<T> {
 public:
  PairsBandwidth(T& transport, const Case& point)
      : PairsBandwidth(transport, point, pairs_of(point, transport.size())) {}

  [[nodiscard]] std::optional<std::uint64_t> moved_bytes() const override { return moved_bytes_; }

 private:
  PairsBandwidth(T& transport, const Case& point, int pairs)
      : Stream<T>(transport, point, spread_pair(transport.rank(), transport.size(), pairs)),
        moved_bytes_(static_cast<std::uint64_t>(pairs) * point.size_bytes) {}

  std::uint64_t moved_bytes_;
};
NHALF_PATTERN(pairs_bandwidth, PairsBandwidth);
}  // namespace nhalf
