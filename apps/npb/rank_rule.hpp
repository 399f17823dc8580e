// Numbers of ranks among which a kernel can be divided.
#pragma once

#include <bit>
#include <string_view>

namespace nhalf::npb {

/// `two_factors`: ranks are x * y with x / 2 <= y <= x.
enum class RankRule { any, power_of_two, square, two_factors };

inline std::string_view name_of(RankRule rule) {
  constexpr std::string_view names[] = {"any", "power-of-two", "square", "two-factors"};
  return names[static_cast<int>(rule)];
}

/// Whether a kernel with this rule runs on `ranks` ranks.
constexpr bool allows(RankRule rule, int ranks) {
  if (ranks < 1) return false;
  if (rule == RankRule::any) return true;
  if (rule == RankRule::power_of_two) return std::has_single_bit(static_cast<unsigned>(ranks));
  for (int y = 1; y * y <= ranks; ++y) {
    if (ranks % y != 0) continue;
    const int x = ranks / y;
    if (rule == RankRule::square ? x == y : 2 * y >= x) return true;
  }
  return false;
}

}  // namespace nhalf::npb
