// SPDX-License-Identifier: Apache-2.0
// FT: classes (RNR-94-007 and NPB 3.4).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "apps/npb/ft/checksums.hpp"
#include "apps/npb/ft/fft.hpp"
#include "apps/npb/kernel.hpp"

namespace nhalf::npb::ft {

/// A diffusion equation on nx * ny * nz points, solved by its Fourier transform at as many times as
/// there are checksums.
struct Problem {
  char name;
  int nx;
  int ny;
  int nz;
  std::span<const Complex> checksums;

  [[nodiscard]] double points() const { return static_cast<double>(nx) * ny * nz; }
};

inline constexpr std::array problems{
    Problem{'S', 64, 64, 64, checksums_s},    Problem{'W', 128, 128, 32, checksums_w},
    Problem{'A', 256, 256, 128, checksums_a}, Problem{'B', 512, 256, 256, checksums_b},
    Problem{'C', 512, 512, 512, checksums_c}, Problem{'D', 2048, 1024, 1024, checksums_d},
};

inline constexpr double tolerance = 1e-12;

/// As the reference counts them.
inline double operations(char name) {
  const auto& problem = problem_of<Problem>(problems, name);
  const double points = problem.points();
  const double steps = static_cast<double>(problem.checksums.size());
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
