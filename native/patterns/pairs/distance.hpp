#pragma once

#include "patterns/bases/pairs/pingpong_loop.hpp"

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

}  // namespace nhalf
