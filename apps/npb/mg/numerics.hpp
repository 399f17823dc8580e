// MG: stencils of 27 points on a block of a grid, and its neighbours' values around it.
#pragma once

#include <array>
#include <cstddef>

#include "apps/npb/clones.hpp"
#include "apps/npb/mg/problem.hpp"

namespace nhalf::npb::mg {

/// A block of a grid: `points` in x, y and z without the layer around it, the block's first point
/// in the whole grid, x fastest in memory.
struct Block {
  std::array<int, 3> points{};
  std::array<int, 3> first{};

  [[nodiscard]] std::ptrdiff_t row() const { return points[0] + 2; }
  [[nodiscard]] std::ptrdiff_t plane() const { return row() * (points[1] + 2); }
  [[nodiscard]] std::size_t size() const {
    return static_cast<std::size_t>(plane() * (points[2] + 2));
  }
};

/// Planes of a block from `first` to `last`, both of them; 1 is the first inside.
struct Planes {
  int first;
  int last;
};

/// A row of the largest class, and the layer at its ends.
inline constexpr std::size_t row_max = 1024 + 8;

/// Sums of a row's four neighbours at a distance of one point, and of four at the diagonals.
struct Sums {
  std::array<double, row_max> near;
  std::array<double, row_max> far;

  [[gnu::always_inline]] inline void of(const double* at, std::ptrdiff_t row,
                                        std::ptrdiff_t plane) {
    for (std::ptrdiff_t x = 0; x < row; ++x) {
      const auto i = static_cast<std::size_t>(x);
      const double* point = at + x;
      near[i] = point[-row] + point[row] + point[-plane] + point[plane];
      far[i] = point[-plane - row] + point[-plane + row] + point[plane - row] + point[plane + row];
    }
  }
};

/// The operator: of the centre, of edges and of corners; of faces it is 0.
inline constexpr std::array operator_a{-8.0 / 3, 1.0 / 6, 1.0 / 12};

/// r = v - A u; v and r may be one.
NHALF_CLONES inline void residual(const Block& block, const double* u, const double* v, double* r,
                                  Planes planes) {
  const auto row = block.row();
  const auto plane = block.plane();
  Sums sums;
  for (int z = planes.first; z <= planes.last; ++z) {
    for (int y = 1; y <= block.points[1]; ++y) {
      const auto at = z * plane + y * row;
      sums.of(u + at, row, plane);
      const double* near = sums.near.data();
      const double* far = sums.far.data();
      const double* centre = u + at;
      const double* right = v + at;
      double* out = r + at;
#pragma omp simd
      for (int x = 1; x <= block.points[0]; ++x)
        out[x] = right[x] - operator_a[0] * centre[x] -
                 operator_a[1] * (far[x] + near[x - 1] + near[x + 1]) -
                 operator_a[2] * (far[x - 1] + far[x + 1]);
    }
  }
}

/// u += S r, or u = S r where u is not known yet.
template <bool adds>
[[gnu::always_inline]] inline void smooth_rows(const Block& block, const std::array<double, 3>& s,
                                               const double* r, double* u, Planes planes) {
  const auto row = block.row();
  const auto plane = block.plane();
  Sums sums;
  for (int z = planes.first; z <= planes.last; ++z) {
    for (int y = 1; y <= block.points[1]; ++y) {
      const auto at = z * plane + y * row;
      sums.of(r + at, row, plane);
      const double* near = sums.near.data();
      const double* far = sums.far.data();
      const double* centre = r + at;
      double* out = u + at;
#pragma omp simd
      for (int x = 1; x <= block.points[0]; ++x) {
        const double change = s[0] * centre[x] + s[1] * (centre[x - 1] + centre[x + 1] + near[x]) +
                              s[2] * (far[x] + near[x - 1] + near[x + 1]);
        out[x] = adds ? out[x] + change : change;
      }
    }
  }
}

NHALF_CLONES inline void smooth(const Block& block, const std::array<double, 3>& s, const double* r,
                                double* u, Planes planes) {
  smooth_rows<true>(block, s, r, u, planes);
}

NHALF_CLONES inline void smooth_first(const Block& block, const std::array<double, 3>& s,
                                      const double* r, double* u, Planes planes) {
  smooth_rows<false>(block, s, r, u, planes);
}

/// Returns the shift of a coarse point in a fine block, which lies at twice its place less this.
inline int shift_of(const Block& fine, const Block& coarse, std::size_t axis) {
  return fine.first[axis] - 2 * coarse.first[axis];
}

/// Means of fine points become those of the coarse planes: 1/2 of the centre, 1/4 of faces, 1/8 of
/// edges, 1/16 of corners.
NHALF_CLONES inline void restrict_to(const Block& fine, const double* from, const Block& coarse,
                                     double* to, Planes planes) {
  const auto row = fine.row();
  const auto plane = fine.plane();
  Sums sums;
  const int shift_x = shift_of(fine, coarse, 0);
  for (int z = planes.first; z <= planes.last; ++z) {
    for (int y = 1; y <= coarse.points[1]; ++y) {
      const double* centre = from + (2 * z - shift_of(fine, coarse, 2)) * plane +
                             (2 * y - shift_of(fine, coarse, 1)) * row;
      sums.of(centre, row, plane);
      const double* near = sums.near.data() - shift_x;
      const double* far = sums.far.data() - shift_x;
      centre -= shift_x;
      double* out = to + z * coarse.plane() + y * coarse.row();
#pragma omp simd
      for (int x = 1; x <= coarse.points[0]; ++x) {
        const int i = 2 * x;
        out[x] = 0.5 * centre[i] + 0.25 * (centre[i - 1] + centre[i + 1] + near[i]) +
                 0.125 * (near[i - 1] + near[i + 1] + far[i]) + 0.0625 * (far[i - 1] + far[i + 1]);
      }
    }
  }
}

/// The two coarse places between which a fine one lies; both are one where it lies on it.
struct Between {
  int low;
  int high;

  Between(const Block& fine, const Block& coarse, std::size_t axis, int place) {
    // Places of the whole grid count from 1.
    const int whole = fine.first[axis] + place;
    low = (whole >> 1) - coarse.first[axis];
    high = ((whole + 1) >> 1) - coarse.first[axis];
  }
};

/// Adds the mean of the coarse points around every fine one, or sets it; the layer around the block
/// has it, too.
template <bool adds>
[[gnu::always_inline]] inline void interpolate_rows(const Block& coarse, const double* from,
                                                    const Block& fine, double* to, Planes planes) {
  std::array<double, row_max> mean;
  const int shift_x = shift_of(fine, coarse, 0);
  for (int z = planes.first; z <= planes.last; ++z) {
    const Between in_z(fine, coarse, 2, z);
    for (int y = 0; y <= fine.points[1] + 1; ++y) {
      const Between in_y(fine, coarse, 1, y);
      const double* a = from + in_z.low * coarse.plane() + in_y.low * coarse.row();
      const double* b = from + in_z.low * coarse.plane() + in_y.high * coarse.row();
      const double* c = from + in_z.high * coarse.plane() + in_y.low * coarse.row();
      const double* d = from + in_z.high * coarse.plane() + in_y.high * coarse.row();
      for (std::size_t x = 0; x < static_cast<std::size_t>(coarse.row()); ++x)
        mean[x] = 0.25 * (a[x] + b[x] + (c[x] + d[x]));
      double* out = to + z * fine.plane() + y * fine.row();
      const int last = fine.points[0] + 1;
      // A fine place lies on a coarse one where its own plus the shift is even.
      const int odd = shift_x & 1;
      const double* low = mean.data() + (shift_x + odd) / 2;
      for (int x = odd; x <= last; x += 2) out[x] = (adds ? out[x] : 0) + low[(x - odd) / 2];
      low -= odd;
      for (int x = 1 - odd; x <= last; x += 2) {
        const int i = (x - 1 + odd) / 2;
        out[x] = (adds ? out[x] : 0) + 0.5 * (low[i] + low[i + 1]);
      }
    }
  }
}

NHALF_CLONES inline void interpolate(const Block& coarse, const double* from, const Block& fine,
                                     double* to, Planes planes) {
  interpolate_rows<false>(coarse, from, fine, to, planes);
}

NHALF_CLONES inline void interpolate_more(const Block& coarse, const double* from,
                                          const Block& fine, double* to, Planes planes) {
  interpolate_rows<true>(coarse, from, fine, to, planes);
}

/// The sum of the squares of a block.
NHALF_CLONES inline double squares(const Block& block, const double* r, Planes planes) {
  double sum = 0;
  for (int z = planes.first; z <= planes.last; ++z) {
    for (int y = 1; y <= block.points[1]; ++y) {
      const double* row = r + z * block.plane() + y * block.row();
#pragma omp simd reduction(+ : sum)
      for (int x = 1; x <= block.points[0]; ++x) sum += row[x] * row[x];
    }
  }
  return sum;
}

}  // namespace nhalf::npb::mg
