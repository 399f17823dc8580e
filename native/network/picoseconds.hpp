// Virtual time in whole picoseconds: sums of it do not depend on their order, so runs repeat to the
// last digit.
#pragma once

#include <cstdint>

namespace nhalf::network {
using Picoseconds = std::uint64_t;

/// The time of what nothing brings about.
inline constexpr Picoseconds never = ~Picoseconds{0};

/// Nobody may sleep for longer: the rest of the range is for what messages take after that.
inline constexpr int last_day = 200;
inline constexpr Picoseconds last_time = last_day * 86400 * Picoseconds{1'000'000'000'000};
}  // namespace nhalf::network
