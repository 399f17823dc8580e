// MG: layers of a block, as they are sent: of an axis at a place.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "apps/npb/mg/numerics.hpp"

namespace nhalf::npb::mg {

/// Calls `use(place in the grid)` for every point of a layer, x fastest. Layers of y have those of
/// x at their ends, since these are there already, and layers of z both; a `whole` one has all.
template <class Use>
void every_point(const Block& block, std::size_t axis, int at, bool whole, Use use) {
  std::array<int, 3> low{}, high{};
  for (std::size_t other = 0; other < 3; ++other) {
    const bool with_ends = whole || other < axis;
    low[other] = other == axis ? at : with_ends ? 0 : 1;
    high[other] = other == axis ? at : block.points[other] + (with_ends ? 1 : 0);
  }
  for (int z = low[2]; z <= high[2]; ++z)
    for (int y = low[1]; y <= high[1]; ++y)
      for (int x = low[0]; x <= high[0]; ++x)
        use(static_cast<std::size_t>(z * block.plane() + y * block.row() + x));
}

/// Returns the number of points of a layer.
inline std::size_t layer_size(const Block& block, std::size_t axis, bool whole) {
  std::size_t size = 1;
  for (std::size_t other = 0; other < 3; ++other) {
    const int ends = whole || other < axis ? 2 : 0;
    if (other != axis) size *= static_cast<std::size_t>(block.points[other] + ends);
  }
  return size;
}

/// Returns the number of points of the largest layer.
inline std::size_t largest_layer(const Block& block) {
  return std::max(
      {layer_size(block, 0, true), layer_size(block, 1, true), layer_size(block, 2, true)});
}

/// Copies a layer; how many points it has.
inline std::size_t pack_layer(const Block& block, std::size_t axis, int at, bool whole,
                              std::span<const double> grid, std::span<double> out) {
  std::size_t count = 0;
  every_point(block, axis, at, whole, [&](std::size_t place) { out[count++] = grid[place]; });
  return count;
}

inline void unpack_layer(const Block& block, std::size_t axis, int at, bool whole,
                         std::span<double> grid, std::span<const double> in) {
  std::size_t count = 0;
  every_point(block, axis, at, whole, [&](std::size_t place) { grid[place] = in[count++]; });
}

/// Layers of a block that is its own neighbour: of x and y in some planes, or of z.
inline void wrap_layer(const Block& block, std::size_t axis, std::span<double> grid,
                       Planes planes) {
  const auto step = static_cast<std::size_t>(axis == 0   ? 1
                                             : axis == 1 ? block.row()
                                                         : block.plane());
  const auto inside = static_cast<std::size_t>(block.points[axis]) * step;
  const auto rows = static_cast<std::size_t>(block.row());
  if (axis == 2) {
    const auto plane = static_cast<std::size_t>(block.plane());
    if (planes.last == block.points[2]) std::copy_n(&grid[inside], plane, &grid[0]);
    if (planes.first == 1) std::copy_n(&grid[step], plane, &grid[inside + step]);
    return;
  }
  for (int z = planes.first; z <= planes.last; ++z) {
    const auto plane = static_cast<std::size_t>(z * block.plane());
    const auto count = axis == 0 ? static_cast<std::size_t>(block.points[1] + 2) : rows;
    const auto apart = axis == 0 ? rows : 1;
    for (std::size_t i = 0; i < count; ++i) {
      double* first = &grid[plane + i * apart];
      first[0] = first[inside];
      first[inside + step] = first[step];
    }
  }
}

}  // namespace nhalf::npb::mg
