// FT: classes and official values (RNR-94-007 and NPB 3.4).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>

#include "apps/npb/ft/complex.hpp"
#include "apps/npb/ft/fft.hpp"
#include "apps/npb/kernel.hpp"

namespace nhalf::npb::ft {

inline constexpr std::size_t steps_max = 25;

/// A diffusion equation on nx * ny * nz points, solved by its Fourier transform at so many times,
/// each with its official checksum.
struct Problem {
  char name;
  int nx;
  int ny;
  int nz;
  std::size_t steps;
  std::array<Complex, steps_max> values;

  [[nodiscard]] std::span<const Complex> checksums() const { return {values.data(), steps}; }
  [[nodiscard]] double points() const { return static_cast<double>(nx) * ny * nz; }
};

inline constexpr auto problems = std::to_array<Problem>({
#include "apps/npb/ft/classes.inc"
});

inline constexpr double tolerance = 1e-12;

/// Returns the operations as the reference counts them.
inline double operations(char name) {
  const auto& problem = problem_of<Problem>(problems, name);
  const double points = problem.points();
  const double steps = static_cast<double>(problem.steps);
  return points *
         (14.8157 + 7.19641 * std::log(points) + (5.23518 + 7.21113 * std::log(points)) * steps);
}

inline double memory_bytes(char name) {
  return 3 * 16 * problem_of<Problem>(problems, name).points();
}

/// In pencils, of which each rank transforms several lines at once.
inline int ranks_max(char name) {
  const auto& problem = problem_of<Problem>(problems, name);
  return problem.nz * std::min(problem.nx, problem.ny) / static_cast<int>(lanes);
}

inline constexpr KernelInfo info{
    .name = "npb-ft",
    .what = "three-dimensional fast Fourier transforms: a diffusion equation",
    .ranks = RankRule::power_of_two,
    .classes = "SWABCD",
    .operations = operations,
    .memory_bytes = memory_bytes,
    .ranks_max = ranks_max,
};

}  // namespace nhalf::npb::ft
