// SPDX-License-Identifier: Apache-2.0
// Alternating directions (BT and SP) in OpenMP: threads take planes of points for x and y, and
// planes across them for z.
#pragma once

#include <omp.h>

#include <vector>

#include "apps/npb/flow/implicit.hpp"
#include "apps/npb/flow/lines.hpp"
#include "apps/npb/flow/problem.hpp"
#include "apps/npb/flow/residual.hpp"
#include "apps/npb/openmp_world.hpp"

namespace nhalf::npb::flow {

template <class Method>
class AlternatingOpenMp : public Kernel {
 public:
  AlternatingOpenMp(OpenMpWorld& world, char problem_class)
      : world_(world),
        problem_(problem_of<Problem>(Method::problems, problem_class)),
        box_(problem_.n, {0, 0, 0}, {problem_.n, problem_.n, problem_.n}),
        implicit_(box_, problem_.dt),
        u_(box_, 1.0),
        r_(box_, 0.0),
        forcing_(box_, 0.0) {
    for (int thread = 0; thread < world.threads; ++thread) rooms_.emplace_back(box_);
    set_exact(box_, u_);
    set_forcing(box_, u_, forcing_);
  }

  void prepare() override {
    set_initial(box_, u_);
    step();
    set_initial(box_, u_);
  }

  void run() override {
    for (int i = 0; i < problem_.steps; ++i) step();
  }

  std::vector<Check> checks() override {
    Residual residual(box_);
    residual.start(u_, box_.first(2));
    for (Index k = box_.first(2); k < box_.last(2); ++k) residual.plane(u_, forcing_, 1.0, r_, k);
    Vec5 residual_sum{};
    Vec5 error_sum{};
    add_squares(box_, r_, residual_sum);
    add_error_squares(box_, u_, error_sum);
    return checks_of(problem_, root_mean_square(residual_sum, box_.n),
                     root_mean_square(error_sum, box_.n));
  }

 private:
  /// What a thread needs for itself.
  struct Room {
    explicit Room(const Subdomain& box)
        : residual(box),
          lines(box.n),
          eliminated(static_cast<std::size_t>(box.n + Method::reach)) {}
    Residual residual;
    LineRoom lines;
    std::vector<typename Method::Eliminated> eliminated;
  };

  void step() {
#pragma omp parallel num_threads(world_.threads)
    {
      Room& room = rooms_[static_cast<std::size_t>(omp_get_thread_num())];
      Index before = -1;
#pragma omp for schedule(static)
      for (Index k = box_.first(2); k < box_.last(2); ++k) {
        if (k != before + 1 || before < 0) room.residual.start(u_, k);
        before = k;
        room.residual.plane(u_, forcing_, problem_.dt, r_, k);
        solve(0, k, room);
        solve(1, k, room);
      }
#pragma omp for schedule(static)
      for (Index j = box_.first(1); j < box_.last(1); ++j) solve(2, j, room);
    }
  }

  /// All lines along a direction in one plane.
  void solve(std::size_t along, Index plane, Room& room) {
    const LineSet set(box_, along);
    for (Index batch = 0; batch < set.batches(); ++batch) {
      const Lines lines = set.batch(plane, batch);
      // Nothing comes from before the first point or from behind the last.
      std::fill_n(room.eliminated.data(), Method::reach, typename Method::Eliminated{});
      std::fill_n(room.lines.x.data() + set.points(), Method::reach, LaneVec5{});
      Method::forward(along, u_, r_, lines, implicit_, room.lines, room.eliminated.data());
      Method::backward(along, u_, r_, lines, room.lines, room.eliminated.data());
    }
  }

  OpenMpWorld& world_;
  const Problem& problem_;
  Subdomain box_;
  Implicit implicit_;
  Field u_, r_, forcing_;
  std::vector<Room> rooms_;
};

}  // namespace nhalf::npb::flow
