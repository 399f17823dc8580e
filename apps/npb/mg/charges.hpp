// MG: the right side is +1 at the places of the ten largest of so many random numbers as there are
// points, -1 at those of the ten smallest, and 0 elsewhere.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "apps/npb/mg/numerics.hpp"
#include "apps/npb/random.hpp"

namespace nhalf::npb::mg {

inline constexpr std::size_t charges_of_a_kind = 10;

/// A random number and its point in the whole grid.
struct Candidate {
  double value = 0;
  std::array<int, 3> point{};
};

/// The best of a block by an order, the best first.
template <class Before>
class Best {
 public:
  void offer(double value, int x, int y, int z) {
    if (found_.size() == charges_of_a_kind && !Before{}(value, found_.back().value)) return;
    const auto at = std::ranges::upper_bound(found_, value, Before{}, &Candidate::value);
    found_.insert(at, {value, {x, y, z}});
    if (found_.size() > charges_of_a_kind) found_.pop_back();
  }
  [[nodiscard]] const std::vector<Candidate>& found() const { return found_; }

 private:
  std::vector<Candidate> found_;
};

using Largest = Best<std::greater<>>;
using Smallest = Best<std::less<>>;

/// Looks at all numbers of a block, whose grid has `size` points in each direction.
inline void find_charges(const Block& block, int size, Largest& largest, Smallest& smallest) {
  for (int z = 0; z < block.points[2]; ++z) {
    for (int y = 0; y < block.points[1]; ++y) {
      const auto row = std::uint64_t(block.first[2] + z) * std::uint64_t(size) +
                       std::uint64_t(block.first[1] + y);
      Random random;
      random.skip(row * std::uint64_t(size) + std::uint64_t(block.first[0]));
      for (int x = 0; x < block.points[0]; ++x) {
        const double value = random.next();
        largest.offer(value, block.first[0] + x, block.first[1] + y, block.first[2] + z);
        smallest.offer(value, block.first[0] + x, block.first[1] + y, block.first[2] + z);
      }
    }
  }
}

/// Puts a charge at a point of the whole grid, where it is in this block.
inline void put_charge(const Block& block, const std::array<int, 3>& point, double charge,
                       std::vector<double>& grid) {
  std::array<int, 3> place{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    place[axis] = point[axis] - block.first[axis] + 1;
    if (place[axis] < 1 || place[axis] > block.points[axis]) return;
  }
  grid[static_cast<std::size_t>(place[2] * block.plane() + place[1] * block.row() + place[0])] =
      charge;
}

}  // namespace nhalf::npb::mg
