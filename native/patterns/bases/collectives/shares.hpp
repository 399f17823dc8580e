// How the blocks of ranks differ in size: the axis `shares`.
#pragma once

#include <numeric>

#include "contract/pattern.hpp"

namespace nhalf {
inline constexpr std::array shares_axis{
    AxisInfo{"shares", "1", "1",
             "3:1: the block of every other rank is three times as long as the others; the size is "
             "that of the mean block"}};

/// The shares of ranks. An all-to-all has a block between two of them, which is as long as the
/// product of both says, so that each sends as much as it gets.
class Shares {
 public:
  static constexpr int nobody = -1;

  /// Throws InputError for an axis that has none.
  Shares(const Case& point, int ranks) : shares_(point.numbers<std::uint32_t>("shares", "1")) {
    double sum = 0;
    for (int rank = 0; rank < ranks && !are_equal(); ++rank) sum += share_of(rank);
    if (are_equal()) return;
    if (sum == 0) throw InputError("axis shares gives no rank anything");
    scale_ratio_ = ranks / sum;
  }

  /// How long the block of a rank is where the mean one has `mean`: bytes, or elements.
  [[nodiscard]] std::size_t of(std::size_t mean, int rank, int partner = nobody) const {
    if (are_equal()) return mean;
    const double product =
        partner == nobody ? share_of(rank) : share_of(rank) * share_of(partner) * scale_ratio_;
    return static_cast<std::size_t>(
        std::llround(static_cast<double>(mean) * scale_ratio_ * product));
  }
  /// How long the blocks before that of a rank are together.
  [[nodiscard]] std::size_t before(std::size_t mean, int rank, int partner = nobody) const {
    if (are_equal()) return mean * static_cast<std::size_t>(rank);
    std::size_t sum = 0;
    for (int earlier = 0; earlier < rank; ++earlier) sum += of(mean, earlier, partner);
    return sum;
  }
  [[nodiscard]] std::size_t longest(std::size_t mean) const {
    const auto largest = std::ranges::max_element(shares_) - shares_.begin();
    return of(mean, static_cast<int>(largest));
  }
  [[nodiscard]] bool are_equal() const { return shares_.size() == 1; }

 private:
  [[nodiscard]] double share_of(int rank) const {
    return shares_[static_cast<std::size_t>(rank) % shares_.size()];
  }

  std::vector<std::uint32_t> shares_;
  double scale_ratio_ = 1;
};
}  // namespace nhalf
