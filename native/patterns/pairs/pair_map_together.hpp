#pragma once

#include "contract/pattern.hpp"
#include "patterns/bases/pairs/together_loop.hpp"

namespace nhalf {

inline constexpr PatternInfo pair_map_together{
    .name = "pair-map-together",
    .what =
        "every rank streams to every other at once; the time until the slowest has all, each "
        "pair's own in values",
    .needs = "wait-any",
    .timing = Timing::inner};

template <FirstDone T>
class PairMapTogether : public TogetherLoop<T> {
 public:
  using TogetherLoop<T>::TogetherLoop;
};

NHALF_PATTERN(pair_map_together, PairMapTogether);

}  // namespace nhalf
