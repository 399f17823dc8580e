// MG in OpenMP: threads have some planes of every grid. After every step they wait for each other,
// and close the grid at its ends.
#pragma once

#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "apps/npb/mg/charges.hpp"
#include "apps/npb/mg/cycle.hpp"
#include "apps/npb/mg/layers.hpp"
#include "apps/npb/openmp_world.hpp"

namespace nhalf::npb::mg {

/// One thread's view of the grids that all share.
class OpenMpExchange {
 public:
  OpenMpExchange(OpenMpWorld& world, Hierarchy& grids, int thread)
      : world_(world), grids_(grids), thread_(thread) {}

  [[nodiscard]] Planes planes(std::size_t level) const {
    const int count = grids_.blocks[level].points[2];
    return {1 + count * thread_ / world_.threads, count * (thread_ + 1) / world_.threads};
  }
  [[nodiscard]] static bool is_active(std::size_t) { return true; }
  static void spread(std::size_t) {}
  static void leave_grid() {}
  void wait() { world_.wait(); }

  void halo(std::size_t level, std::vector<double>& grid) {
    const auto mine = planes(level);
    if (mine.first <= mine.last)
      for (std::size_t axis = 0; axis < 3; ++axis)
        wrap_layer(grids_.blocks[level], axis, grid, mine);
    wait();
  }

 private:
  OpenMpWorld& world_;
  Hierarchy& grids_;
  int thread_;
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
    for (const auto& candidate : largest_.found())
      put_charge(grids_.blocks.back(), candidate.point, 1, grids_.v);
    for (const auto& candidate : smallest_.found())
      put_charge(grids_.blocks.back(), candidate.point, -1, grids_.v);
  }

  void steps(int count) {
    std::vector<double> squares(static_cast<std::size_t>(world_.threads));
    world_.team([&](int thread) {
      OpenMpExchange exchange(world_, grids_, thread);
      Cycle cycle(problem_, grids_, exchange);
      cycle.find_residual();
      for (int step = 0; step < count; ++step) cycle.step();
      squares[static_cast<std::size_t>(thread)] = cycle.residual_squares();
    });
    norm_ = std::sqrt(std::accumulate(squares.begin(), squares.end(), 0.0) / points(problem_));
  }

  OpenMpWorld& world_;
  const Problem& problem_;
  Hierarchy grids_;
  Largest largest_;
  Smallest smallest_;
  double norm_ = 0;
};

}  // namespace nhalf::npb::mg
