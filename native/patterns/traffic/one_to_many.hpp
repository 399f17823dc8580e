#pragma once

#include "patterns/bases/traffic/fan_loop.hpp"

namespace nhalf {

inline constexpr PatternInfo one_to_many{.name = "one-to-many",
                                         .what =
                                             "rank 0 sends a message of its own to each other "
                                             "rank, 32 rounds before they answer; the time "
                                             "of a round, without the answers",
                                         .rounds_min = fan_window,
                                         .acknowledged = true,
                                         .window = fan_window,
                                         .timing = Timing::slowest_rank};

template <Transport T>
class OneToMany : public FanLoop<T> {
 public:
  OneToMany(T& transport, const Case& point) : FanLoop<T>(transport, point, true) {}
};
NHALF_PATTERN(one_to_many, OneToMany);

}  // namespace nhalf
