#pragma once

#include "patterns/bases/pairs/spread_pairs.hpp"
#include "patterns/pairs/stream.hpp"

namespace nhalf {

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
