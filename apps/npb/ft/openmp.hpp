// FT in OpenMP: threads take planes of x and y, and rows whose lines along z they transform. They
// wait for each other in between.
#pragma once

#include <cstddef>
#include <vector>

#include "apps/npb/ft/numerics.hpp"
#include "apps/npb/openmp_world.hpp"

namespace nhalf::npb::ft {

class OpenMp : public Kernel {
 public:
  OpenMp(OpenMpWorld& world, char problem_class)
      : world_(world),
        problem_(problem_of<Problem>(problems, problem_class)),
        transforms_(problem_),
        decay_(problem_),
        row_(2 * static_cast<std::size_t>(problem_.nx)),
        plane_(row_ * static_cast<std::size_t>(problem_.ny)),
        spectrum_(plane_ * static_cast<std::size_t>(problem_.nz)),
        field_(spectrum_.size()),
        sums_(problem_.steps) {
    for (int thread = 0; thread < world.threads; ++thread) rooms_.push_back(transforms_.room());
  }

  void prepare() override { start(); }

  void run() override {
    start();
    for (std::size_t step = 0; step < sums_.size(); ++step) {
      evolve(static_cast<int>(step) + 1);
      sums_[step] = checksum(problem_, {0, problem_.nz, 0, problem_.ny}, field_.data());
    }
  }

  std::vector<Check> checks() override { return checks_of(problem_, sums_); }

 private:
  void start() {
    world_.team([this](int thread) {
      double* room = own_room(thread);
#pragma omp for schedule(static) nowait
      for (int z = 0; z < problem_.nz; ++z) {
        const auto at = plane_ * static_cast<std::size_t>(z);
        fill_rows(problem_, z, 0, std::span(spectrum_).subspan(at, plane_));
        transform_plane(transforms_, Direction::forward, spectrum_.data() + at, room);
      }
      world_.wait();
#pragma omp for schedule(static) nowait
      for (int y = 0; y < problem_.ny; ++y)
        transform_row(transforms_, spectrum_.data() + row_ * static_cast<std::size_t>(y), row_ / 2,
                      plane_ / 2, room);
    });
  }

  void evolve(int time) {
    decay_.at(time);
    world_.team([this](int thread) {
      double* room = own_room(thread);
#pragma omp for schedule(static) nowait
      for (int y = 0; y < problem_.ny; ++y) {
        const auto at = row_ * static_cast<std::size_t>(y);
        evolve_row(transforms_, decay_, {static_cast<std::size_t>(y), 0, row_ / 2},
                   spectrum_.data() + at, field_.data() + at, plane_ / 2, room);
      }
      world_.wait();
#pragma omp for schedule(static) nowait
      for (int z = 0; z < problem_.nz; ++z)
        transform_plane(transforms_, Direction::inverse,
                        field_.data() + plane_ * static_cast<std::size_t>(z), room);
    });
  }

  double* own_room(int thread) { return rooms_[static_cast<std::size_t>(thread)].data(); }

  OpenMpWorld& world_;
  const Problem& problem_;
  Transforms transforms_;
  Decay decay_;
  std::size_t row_;
  std::size_t plane_;
  std::vector<double> spectrum_, field_;
  std::vector<Complex> sums_;
  std::vector<std::vector<double>> rooms_;
};

}  // namespace nhalf::npb::ft
