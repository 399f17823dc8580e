#pragma once

#include "patterns/bases/pairs/stream_loop.hpp"

namespace nhalf {

inline constexpr PatternInfo stream{
    .name = "stream",
    .what = "rank 0 pumps messages to rank 1, which acknowledges once at the end of a batch",
    .rounds_min = 16,
    .acknowledged = true};

template <Transport T>
class Stream : public StreamLoop<T> {
 public:
  Stream(T& transport, const Case& point) : StreamLoop<T>(transport, point) {}
};

NHALF_PATTERN(stream, Stream);

}  // namespace nhalf
