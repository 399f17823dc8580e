// Alternating directions (BT and SP) in OpenMP: threads take planes of points for x and y, and
// planes across them for z.
#pragma once

#include <vector>

#include "apps/npb/flow/cell.hpp"
#include "apps/npb/openmp_world.hpp"

namespace nhalf::npb::flow {

template <class Method>
class AlternatingOpenMp : public Kernel {
 public:
  AlternatingOpenMp(OpenMpWorld& world, char problem_class)
      : world_(world),
        problem_(problem_of<Problem>(Method::problems, problem_class)),
        cell_(Subdomain(problem_.n, {0, 0, 0}, {problem_.n, problem_.n, problem_.n}), problem_.dt) {
    for (int thread = 0; thread < world.threads; ++thread)
      rooms_.emplace_back(cell_.box, problem_.n);
  }

  void prepare() override {
    set_initial(cell_.box, cell_.u);
    step();
    set_initial(cell_.box, cell_.u);
  }

  void run() override {
    for (int i = 0; i < problem_.steps; ++i) step();
  }

  std::vector<Check> checks() override {
    Vec5 residual{};
    Vec5 error{};
    cell_.set_residual(rooms_[0], 1.0);
    add_squares(cell_.box, cell_.r, residual);
    add_error_squares(cell_.box, cell_.u, error);
    return checks_of(problem_, root_mean_square(residual, problem_.n),
                     root_mean_square(error, problem_.n));
  }

 private:
  void step() {
    world_.team([this](Index thread) {
      auto& room = rooms_[static_cast<std::size_t>(thread)];
      cell_.step_planes(room, begin(2, thread), begin(2, thread + 1));
      world_.wait();
      cell_.step_across(room, begin(1, thread), begin(1, thread + 1));
    });
  }

  /// The first plane across direction `d` that a thread has.
  [[nodiscard]] Index begin(std::size_t d, Index thread) const {
    const Index first = cell_.box.first(d);
    return first + (cell_.box.last(d) - first) * thread / world_.threads;
  }

  OpenMpWorld& world_;
  const Problem& problem_;
  Cell<Method> cell_;
  std::vector<CellRoom<Method>> rooms_;
};

}  // namespace nhalf::npb::flow
