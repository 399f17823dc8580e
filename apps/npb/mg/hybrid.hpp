// nhalf-needs: MPI
// MG in ranks that have threads: these have some planes of the rank's block of every grid, and the
// first of them swaps layers when all have computed theirs.
#pragma once

#include <cstddef>
#include <numeric>
#include <vector>

#include "apps/npb/hybrid_world.hpp"
#include "apps/npb/mg/mpi.hpp"

namespace nhalf::npb::mg {

/// One thread's view of the grids and the messages of its rank.
class HybridExchange {
 public:
  HybridExchange(OpenMpWorld& team, MpiExchange& ranks, int thread)
      : team_(team), ranks_(ranks), thread_(thread) {}

  [[nodiscard]] Planes planes(std::size_t level) const {
    const int count = ranks_.planes(level).last;
    return {1 + count * thread_ / team_.threads, count * (thread_ + 1) / team_.threads};
  }
  [[nodiscard]] bool is_active(std::size_t level) const { return ranks_.is_active(level); }
  void wait() { team_.wait(); }

  void halo(std::size_t level, std::vector<double>& grid) {
    between_waits([&] { ranks_.halo(level, grid); });
  }
  void spread(std::size_t level) {
    between_waits([&] { ranks_.spread(level); });
  }
  void leave_grid() {
    if (thread_ == 0) ranks_.leave_grid();
  }

 private:
  template <class Calls>
  void between_waits(Calls calls) {
    wait();
    if (thread_ == 0) calls();
    wait();
  }

  OpenMpWorld& team_;
  MpiExchange& ranks_;
  int thread_;
};

class Hybrid : public Mpi {
 public:
  Hybrid(HybridWorld& world, char problem_class) : Mpi(world, problem_class), world_(world) {}

 private:
  double steps(int count) override {
    auto& team = world_.team();
    std::vector<double> squares(static_cast<std::size_t>(team.threads));
    team.team([&](int thread) {
      HybridExchange exchange(team, exchange_, thread);
      Cycle cycle(problem_, grids_, exchange);
      const auto add = [&] {
        squares[static_cast<std::size_t>(thread)] = cycle.residual_squares();
        exchange.wait();
      };
      cycle.find_residual();
      add();
      if (thread == 0) norm(std::accumulate(squares.begin(), squares.end(), 0.0));
      exchange.wait();
      for (int step = 0; step < count; ++step) cycle.step();
      add();
    });
    return norm(std::accumulate(squares.begin(), squares.end(), 0.0));
  }

  HybridWorld& world_;
};

}  // namespace nhalf::npb::mg
