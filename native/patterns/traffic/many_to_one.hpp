#pragma once

#include "patterns/bases/traffic/fan_loop.hpp"

namespace nhalf {

inline constexpr PatternInfo many_to_one{.name = "many-to-one",
                                         .what =
                                             "every rank sends a message of its own to rank 0, 32 "
                                             "rounds before it answers; the time of a "
                                             "round, without the answers",
                                         .rounds_min = fan_window,
                                         .acknowledged = true,
                                         .window = fan_window,
                                         .timing = Timing::slowest_rank};

template <Transport T>
class ManyToOne : public FanLoop<T> {
 public:
  ManyToOne(T& transport, const Case& point) : FanLoop<T>(transport, point, false) {}
};
NHALF_PATTERN(many_to_one, ManyToOne);

}  // namespace nhalf
