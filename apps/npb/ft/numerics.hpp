// FT: what is computed on planes of x and y, and on lines along z. Complex numbers are pairs of
// doubles; a row is all x of one y and z.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>
#include <vector>

#include "apps/npb/clones.hpp"
#include "apps/npb/ft/fft.hpp"
#include "apps/npb/ft/problem.hpp"
#include "apps/npb/random.hpp"

namespace nhalf::npb::ft {

/// An inverse transform is a forward one of numbers whose parts are exchanged, before and after.
enum class Direction : std::size_t { forward = 0, inverse = 1 };

/// The transforms of the three directions.
struct Transforms {
  explicit Transforms(const Problem& problem) : x(problem.nx), y(problem.ny), z(problem.nz) {}

  /// Room for lines of the longest direction, twice.
  [[nodiscard]] std::vector<double> room() const {
    return std::vector<double>(2 * width * std::max({x.length(), y.length(), z.length()}));
  }

  Fft x, y, z;
};

/// Decay factors of each frequency at a time, one for each direction.
struct Decay {
  explicit Decay(const Problem& problem)
      : x(static_cast<std::size_t>(problem.nx)),
        y(static_cast<std::size_t>(problem.ny)),
        z(static_cast<std::size_t>(problem.nz)) {}

  void at(int time) {
    for (auto* factors : {&x, &y, &z}) {
      const auto size = static_cast<int>(factors->size());
      for (int i = 0; i < size; ++i) {
        const double frequency = i < size / 2 ? i : i - size;
        constexpr double rate = -4e-6 * std::numbers::pi * std::numbers::pi;
        (*factors)[static_cast<std::size_t>(i)] = std::exp(rate * frequency * frequency * time);
      }
    }
  }

  std::vector<double> x, y, z;
};

/// The random numbers that some rows of a plane begin with, from the row `first_y` on.
NHALF_CLONES inline void fill_rows(const Problem& problem, int z, int first_y,
                                   std::span<double> rows) {
  Random random;
  const auto row = 2 * static_cast<std::size_t>(problem.nx);
  const auto before = static_cast<std::uint64_t>(problem.ny) * static_cast<std::uint64_t>(z) +
                      static_cast<std::uint64_t>(first_y);
  random.skip(static_cast<std::uint64_t>(row) * before);
  for (std::size_t at = 0; at < rows.size(); at += row) random.fill(rows.subspan(at, row));
}

/// Lines whose elements are `step` complex numbers apart, and which begin `apart` ones apart.
struct Lines {
  double* first;
  std::size_t step;
  std::size_t apart;
};

[[gnu::always_inline]] inline void load(const Lines& lines, std::size_t length, Direction direction,
                                        double* room) {
  const auto real = static_cast<std::size_t>(direction);
  for (std::size_t i = 0; i < length; ++i) {
    const double* from = lines.first + 2 * i * lines.step;
    double* to = room + i * width;
    for (std::size_t l = 0; l < lanes; ++l) {
      to[l] = from[2 * l * lines.apart + real];
      to[lanes + l] = from[2 * l * lines.apart + 1 - real];
    }
  }
}

[[gnu::always_inline]] inline void save(const double* room, std::size_t length, Direction direction,
                                        const Lines& lines) {
  const auto real = static_cast<std::size_t>(direction);
  for (std::size_t i = 0; i < length; ++i) {
    const double* from = room + i * width;
    double* to = lines.first + 2 * i * lines.step;
    for (std::size_t l = 0; l < lanes; ++l) {
      to[2 * l * lines.apart + real] = from[l];
      to[2 * l * lines.apart + 1 - real] = from[lanes + l];
    }
  }
}

/// Transforms lines in place; with `apart` 1 where it is known at compile time, it is quicker.
[[gnu::always_inline]] inline void transform_lines(const Fft& fft, const Lines& lines,
                                                   Direction direction, double* room) {
  load(lines, fft.length(), direction, room);
  const double* done = fft.transform(room, room + fft.length() * width);
  save(done, fft.length(), direction, lines);
}

/// Transforms a plane along x, then along y: it stays in the cache meanwhile.
NHALF_CLONES inline void transform_plane(const Transforms& transforms, Direction direction,
                                         double* plane, double* room) {
  const auto nx = transforms.x.length();
  const auto ny = transforms.y.length();
  for (std::size_t y = 0; y < ny; y += lanes)
    transform_lines(transforms.x, {plane + 2 * y * nx, 1, nx}, direction, room);
  for (std::size_t x = 0; x < nx; x += lanes)
    transform_lines(transforms.y, {plane + 2 * x, nx, 1}, direction, room);
}

/// Transforms rows along x, which follow each other.
NHALF_CLONES inline void transform_along_x(const Transforms& transforms, Direction direction,
                                           std::span<double> rows, double* room) {
  const auto row = 2 * transforms.x.length();
  for (std::size_t at = 0; at < rows.size(); at += lanes * row)
    transform_lines(transforms.x, {rows.data() + at, 1, row / 2}, direction, room);
}

/// Transforms a plane of `columns` in x along y.
NHALF_CLONES inline void transform_along_y(const Transforms& transforms, Direction direction,
                                           double* plane, std::size_t columns, double* room) {
  for (std::size_t x = 0; x < columns; x += lanes)
    transform_lines(transforms.y, {plane + 2 * x, columns, 1}, direction, room);
}

/// A row or the part of one: its y, its first x, and how many x it has.
struct Row {
  std::size_t y;
  std::size_t first_x;
  std::size_t columns;
};

/// Transforms the lines along z that begin in a row of `columns`; rows of neighbouring z are `step`
/// complex numbers apart.
NHALF_CLONES inline void transform_row(const Transforms& transforms, double* row,
                                       std::size_t columns, std::size_t step, double* room) {
  for (std::size_t x = 0; x < columns; x += lanes)
    transform_lines(transforms.z, {row + 2 * x, step, 1}, Direction::forward, room);
}

/// Lets what begins in a row decay, and transforms it back along z.
NHALF_CLONES inline void evolve_row(const Transforms& transforms, const Decay& decay, Row row,
                                    const double* from, double* to, std::size_t step,
                                    double* room) {
  const auto nz = transforms.z.length();
  for (std::size_t x = 0; x < row.columns; x += lanes) {
    std::array<double, lanes> factors;
    for (std::size_t l = 0; l < lanes; ++l)
      factors[l] = decay.x[row.first_x + x + l] * decay.y[row.y];
    for (std::size_t z = 0; z < nz; ++z) {
      const double* numbers = from + 2 * (z * step + x);
      double* line = room + z * width;
      const double factor = decay.z[z];
      for (std::size_t l = 0; l < lanes; ++l) {
        line[l] = numbers[2 * l + 1] * (factors[l] * factor);
        line[lanes + l] = numbers[2 * l] * (factors[l] * factor);
      }
    }
    const double* done = transforms.z.transform(room, room + nz * width);
    save(done, nz, Direction::inverse, {to + 2 * x, step, 1});
  }
}

/// Whole rows: those of some planes, from `first_z` on, that begin at `first_y`.
struct Rows {
  int first_z;
  int planes;
  int first_y;
  int rows;
};

/// The part of a checksum that lies in some rows.
inline Complex checksum(const Problem& problem, Rows mine, const double* numbers) {
  Complex sum;
  for (int j = 1; j <= 1024; ++j) {
    const int z = 5 * j % problem.nz - mine.first_z;
    const int y = 3 * j % problem.ny - mine.first_y;
    if (z < 0 || z >= mine.planes || y < 0 || y >= mine.rows) continue;
    const auto row = static_cast<std::size_t>(z) * static_cast<std::size_t>(mine.rows) +
                     static_cast<std::size_t>(y);
    const auto place =
        row * static_cast<std::size_t>(problem.nx) + static_cast<std::size_t>(j % problem.nx);
    sum.real += numbers[2 * place] / problem.points();
    sum.imaginary += numbers[2 * place + 1] / problem.points();
  }
  return sum;
}

/// The absolute value; std::hypot would ask for glibc 2.35.
inline double magnitude(const Complex& value) {
  return std::sqrt(value.real * value.real + value.imaginary * value.imaginary);
}

/// Computed checksums beside the official ones; the deviation is that of complex numbers.
inline std::vector<Check> checks_of(const Problem& problem, std::span<const Complex> computed) {
  std::vector<Check> checks;
  for (std::size_t i = 0; i < problem.steps; ++i) {
    const auto& official = problem.checksums()[i];
    const double size = magnitude(official);
    const double gap =
        magnitude({computed[i].real - official.real, computed[i].imaginary - official.imaginary});
    checks.push_back({"checksum", size + gap, size, tolerance});
  }
  return checks;
}

}  // namespace nhalf::npb::ft
