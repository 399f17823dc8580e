// MG: the order of a V-cycle on this block of every grid. Who exchanges how is the matter of an
// Exchange, which has the functions
//   planes(level)     the planes that this thread computes
//   halo(level, grid) gives the layer around blocks their neighbours' values
//   spread(level)     gives u of a grid that only some ranks have to those of the next finer one
//   wait()            for threads that share a block
//   is_active(level)  whether this rank has points of a grid
//   leave_grid()      after each step on a grid, also of those who have none of it
#pragma once

#include <cstddef>
#include <vector>

#include "apps/npb/mg/numerics.hpp"

namespace nhalf::npb::mg {

/// The blocks of one rank: of every grid, from the coarsest on, approximation and residual; of the
/// finest the right side, too.
struct Hierarchy {
  std::vector<Block> blocks;
  std::vector<std::vector<double>> u, r;
  std::vector<double> v;

  void allocate() {
    u.resize(blocks.size());
    r.resize(blocks.size());
    for (std::size_t level = 0; level < blocks.size(); ++level) {
      u[level].resize(blocks[level].size());
      r[level].resize(blocks[level].size());
    }
    v.resize(blocks.back().size());
  }
  [[nodiscard]] std::size_t top() const { return blocks.size() - 1; }
};

template <class Exchange>
class Cycle {
 public:
  Cycle(const Problem& problem, Hierarchy& grids, Exchange& exchange)
      : smoother_(problem.smoother()), grids_(grids), exchange_(exchange) {}

  /// r = v - A u on the finest grid.
  void find_residual() {
    const auto top = grids_.top();
    residual(grids_.blocks[top], grids_.u[top].data(), grids_.v.data(), grids_.r[top].data(),
             exchange_.planes(top));
    exchange_.halo(top, grids_.r[top]);
  }

  /// One V-cycle: u comes nearer to the solution; then the new residual.
  void step() {
    for (std::size_t level = grids_.top(); level > 0; --level) {
      go_down(level);
      exchange_.leave_grid();
    }
    if (exchange_.is_active(0)) {
      smooth_first(grids_.blocks[0], smoother_, grids_.r[0].data(), grids_.u[0].data(),
                   exchange_.planes(0));
      exchange_.halo(0, grids_.u[0]);
    }
    for (std::size_t level = 1; level < grids_.top(); ++level) {
      if (exchange_.is_active(level)) go_up(level);
      exchange_.leave_grid();
    }
    finish();
    find_residual();
  }

  /// The sum of the squares of the residual at this rank's or thread's points.
  [[nodiscard]] double residual_squares() const {
    const auto top = grids_.top();
    return squares(grids_.blocks[top], grids_.r[top].data(), exchange_.planes(top));
  }

 private:
  /// The residual of a grid becomes that of the next coarser one.
  void go_down(std::size_t level) {
    if (!exchange_.is_active(level - 1)) return;
    restrict_to(grids_.blocks[level], grids_.r[level].data(), grids_.blocks[level - 1],
                grids_.r[level - 1].data(), exchange_.planes(level - 1));
    exchange_.halo(level - 1, grids_.r[level - 1]);
  }

  /// Interpolates the solution of the next coarser grid and smooths it on this one.
  void go_up(std::size_t level) {
    auto& u = grids_.u[level];
    auto& r = grids_.r[level];
    exchange_.spread(level - 1);
    interpolate(grids_.blocks[level - 1], grids_.u[level - 1].data(), grids_.blocks[level],
                u.data(), with_layer(level));
    exchange_.wait();
    residual(grids_.blocks[level], u.data(), r.data(), r.data(), exchange_.planes(level));
    exchange_.halo(level, r);
    smooth(grids_.blocks[level], smoother_, r.data(), u.data(), exchange_.planes(level));
    exchange_.halo(level, u);
  }

  /// Adds the correction of the next coarser grid to the finest one, and smooths it.
  void finish() {
    const auto top = grids_.top();
    auto& u = grids_.u[top];
    exchange_.spread(top - 1);
    interpolate_more(grids_.blocks[top - 1], grids_.u[top - 1].data(), grids_.blocks[top], u.data(),
                     with_layer(top));
    exchange_.wait();
    find_residual();
    smooth(grids_.blocks[top], smoother_, grids_.r[top].data(), u.data(), exchange_.planes(top));
    exchange_.halo(top, u);
  }

  /// A thread with the first or the last plane also has the plane beyond it.
  [[nodiscard]] Planes with_layer(std::size_t level) const {
    Planes planes = exchange_.planes(level);
    if (planes.first > planes.last) return planes;
    if (planes.first == 1) planes.first = 0;
    if (planes.last == grids_.blocks[level].points[2]) ++planes.last;
    return planes;
  }

  std::array<double, 3> smoother_;
  Hierarchy& grids_;
  Exchange& exchange_;
};

}  // namespace nhalf::npb::mg
