#pragma once

#include "contract/pattern.hpp"
#include "patterns/bases/traffic/scheduled_traffic.hpp"

namespace nhalf {

inline constexpr AxisInfo traffic_axes[] = {
    {"to", "uniform,complement,neighbour", "",
     "uniform: any other rank; else the rank that a permutation gives: bit-reversal, butterfly, "
     "complement, transpose, shuffle, neighbour, cube, baseline"},
    {"distance", "highest", "highest",
     "butterfly, cube, baseline: stage i by the value of its bit, 2^i; highest; all: every stage, "
     "one after the other"},
    {"load", "10,25,50,75,100,150", "",
     "percent of what goes through without pauses; 0: no pauses"},
    {"size_law", "exponential", "exponential", "of sizes around their mean; uniform, fixed"},
    {"gap_law", "exponential", "exponential", "of times between arrivals; uniform, fixed"},
    {"seed", "1", "1", "of the random schedules"},
    {"scope", "all", "all", "on-node, off-node: only to ranks of the same host, of other hosts"}};

inline constexpr PatternInfo traffic_info{
    .name = "traffic",
    .what = "all ranks send by a random schedule: how much of an offered load is accepted",
    .needs = "non-blocking",
    .timing = Timing::slowest_rank,
    .axes = traffic_axes};

NHALF_PATTERN(traffic_info, ScheduledTraffic);

}  // namespace nhalf
