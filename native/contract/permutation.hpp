// Random orders of ranks that every rank, every compiler and every machine draws alike.
#pragma once

#include <numeric>
#include <random>

#include "contract/vocabulary.hpp"

namespace nhalf {
/// The numbers 0 to count - 1 in the random order number `number` of a seed.
///
/// The C++ standard fixes what mt19937_64 gives, but neither std::shuffle nor the distributions;
/// hence this walk (R. Fisher, F. Yates; R. Durstenfeld, Algorithm 235, CACM 1964). The remainder
/// favours small numbers by less than count / 2^64.
inline std::vector<int> permutation(int count, std::uint64_t seed, int number) {
  std::mt19937_64 random(seed * 65537 + static_cast<std::uint64_t>(number));
  std::vector<int> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t remaining = order.size(); remaining > 1; --remaining)
    std::swap(order[remaining - 1], order[random() % remaining]);
  return order;
}
}  // namespace nhalf
