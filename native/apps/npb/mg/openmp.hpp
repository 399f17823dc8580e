// SPDX-License-Identifier: Apache-2.0
// MG in OpenMP: threads have some planes of every grid. After every step they wait for each other,
// and close the grid at its ends.
#pragma once

#include <omp.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "apps/npb/mg/charges.hpp"
#include "apps/npb/mg/cycle.hpp"
#include "apps/npb/mg/layers.hpp"
#include "apps/npb/openmp_world.hpp"

namespace nhalf::npb::mg {

/// One thread's view of the grids that all share.
class OpenMpExchange {
 public:
  OpenMpExchange(Hierarchy& grids, int thread, int threads)
      : grids_(grids), thread_(thread), threads_(threads) {}

  [[nodiscard]] Planes planes(std::size_t level) const {
    const int count = grids_.blocks[level].points[2];
    return {1 + count * thread_ / threads_, count * (thread_ + 1) / threads_};
  }
  [[nodiscard]] static bool is_active(std::size_t) { return true; }
  static void spread(std::size_t) {}
  static void wait() {
#pragma omp barrier
  }

  void halo(std::size_t level, std::vector<double>& grid) {
    const auto mine = planes(level);
    if (mine.first <= mine.last)
      for (std::size_t axis = 0; axis < 3; ++axis)
        wrap_layer(grids_.blocks[level], axis, grid, mine);
    wait();
  }

 private:
  Hierarchy& grids_;
  int thread_;
  int threads_;
};

class OpenMp : public Kernel {
 public:
  OpenMp(OpenMpWorld& world, char problem_class)
      : world_(world), problem_(problem_of<Problem>(problems, problem_class)) {
    for (int level = 0; level < problem_.levels(); ++level) {
      const int size = 2 << level;
      grids_.blocks.push_back({{size, size, size}, {0, 0, 0}});
    }
    grids_.allocate();
    find_charges(grids_.blocks.back(), problem_.size, largest_, smallest_);
  }

  void prepare() override {
    start();
    steps(1);
    start();
  }

  void run() override { steps(problem_.iterations); }

  std::vector<Check> checks() override { return {{"norm", norm_, problem_.norm, tolerance}}; }

 private:
  void start() {
    std::ranges::fill(grids_.u.back(), 0.0);
    std::ranges::fill(grids_.v, 0.0);
    for (const auto& one : largest_.found())
      put_charge(grids_.blocks.back(), one.point, 1, grids_.v);
    for (const auto& one : smallest_.found())
      put_charge(grids_.blocks.back(), one.point, -1, grids_.v);
  }

  void steps(int count) {
    double sum = 0;
#pragma omp parallel num_threads(world_.threads) reduction(+ : sum)
    {
      OpenMpExchange exchange(grids_, omp_get_thread_num(), world_.threads);
      Cycle cycle(problem_, grids_, exchange);
      cycle.find_residual();
      for (int step = 0; step < count; ++step) cycle.step();
      sum += cycle.residual_squares();
    }
    norm_ = std::sqrt(sum / points(problem_));
  }

  OpenMpWorld& world_;
  const Problem& problem_;
  Hierarchy grids_;
  Largest largest_;
  Smallest smallest_;
  double norm_ = 0;
};

}  // namespace nhalf::npb::mg
