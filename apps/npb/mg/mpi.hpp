// nhalf-needs: MPI
// MG in message passing: ranks are a box; each has a block of every grid. After every step a rank
// swaps the layers of its block with its neighbours, in x, then y, then z: two messages each. Of
// grids with fewer points than ranks some have none; those who have give them theirs on the way up.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <vector>

#include "apps/npb/mg/charges.hpp"
#include "apps/npb/mg/cycle.hpp"
#include "apps/npb/mg/layers.hpp"
#include "apps/npb/mpi_world.hpp"

namespace nhalf::npb::mg {

/// Position of a rank in the box of all ranks.
struct Box {
  std::array<int, 3> ranks{};
  std::array<int, 3> place{};

  Box(int rank, int size) {
    const int bits = static_cast<int>(std::bit_width(static_cast<unsigned>(size))) - 1;
    ranks = {1 << bits / 3, 1 << (bits - bits / 3) / 2, 0};
    ranks[2] = size / (ranks[0] * ranks[1]);
    place = {rank % ranks[0], rank / ranks[0] % ranks[1], rank / (ranks[0] * ranks[1])};
  }

  /// The rank that is so far away along an axis.
  [[nodiscard]] int beside(std::size_t axis, int distance) const {
    auto target = place;
    target[axis] = (target[axis] + distance + ranks[axis]) % ranks[axis];
    return target[0] + ranks[0] * (target[1] + ranks[1] * target[2]);
  }
  /// This rank's block of a grid with `size` points in each direction.
  [[nodiscard]] Block block(int size) const {
    Block block;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      block.first[axis] = place[axis] * size / ranks[axis];
      block.points[axis] = (place[axis] + 1) * size / ranks[axis] - block.first[axis];
    }
    return block;
  }
};

/// The calls of MPI.
class MpiExchange {
 public:
  MpiExchange(MpiWorld& world, const Problem& problem, Hierarchy& grids)
      : world_(world), box_(world.rank, world.size), grids_(grids) {
    for (int level = 0; level < problem.levels(); ++level)
      grids.blocks.push_back(box_.block(2 << level));
    grids.allocate();
    for (auto* buffer : {&sent_[0], &sent_[1], &got_[0], &got_[1]})
      buffer->resize(largest_layer(grids.blocks.back()));
  }

  [[nodiscard]] Planes planes(std::size_t level) const {
    return {1, grids_.blocks[level].points[2]};
  }
  [[nodiscard]] bool is_active(std::size_t level) const {
    return std::ranges::all_of(grids_.blocks[level].points, [](int count) { return count > 0; });
  }
  void wait() {}
  void leave_grid() {
    if (world_.meets_on_grids) world_.communicate([&] { MPI_Barrier(world_.all); });
  }

  void halo(std::size_t level, std::vector<double>& grid) {
    const auto& block = grids_.blocks[level];
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (world_.size == 1) {
        wrap_layer(block, axis, grid, planes(level));
        continue;
      }
      const int step = distance(level, axis);
      const auto count = pack_layer(block, axis, block.points[axis], false, grid, sent_[0]);
      pack_layer(block, axis, 1, false, grid, sent_[1]);
      world_.communicate([&] { swap(box_.beside(axis, step), box_.beside(axis, -step), count); });
      unpack_layer(block, axis, 0, false, grid, got_[0]);
      unpack_layer(block, axis, block.points[axis] + 1, false, grid, got_[1]);
    }
  }

  /// Ranks that have points along an axis give them to the two beside them that have none.
  void spread(std::size_t level) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (box_.ranks[axis] <= 2 << level || !takes_part(level, axis)) continue;
      const auto& block = grids_.blocks[level];
      const int step = distance(level + 1, axis);
      auto& grid = grids_.u[level];
      const auto count = layer_size(block, axis, true);
      if (block.points[axis] > 0) {
        pack_layer(block, axis, 1, true, grid, sent_[0]);
        world_.communicate([&] {
          send(box_.beside(axis, step), sent_[0], count, up);
          send(box_.beside(axis, -step), sent_[0], count, down);
        });
      } else {
        world_.communicate([&] {
          receive(box_.beside(axis, -step), got_[0], count, up);
          receive(box_.beside(axis, step), got_[1], count, down);
        });
        unpack_layer(block, axis, 0, true, grid, got_[0]);
        unpack_layer(block, axis, 1, true, grid, got_[1]);
      }
    }
  }

  double total(double number) {
    world_.communicate(
        [&] { MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_DOUBLE, MPI_SUM, world_.all); });
    return number;
  }
  double largest(double number) {
    world_.communicate(
        [&] { MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_DOUBLE, MPI_MAX, world_.all); });
    return number;
  }

  /// One kind of charges: in every round the best of all ranks, and where it is.
  template <class Found>
  void put_charges(const Found& best, MPI_Op better, double none, double charge) {
    std::size_t next = 0;
    for (std::size_t round = 0; round < charges_of_a_kind; ++round) {
      const bool is_left = next < best.found().size();
      const double mine = is_left ? best.found()[next].value : none;
      double chosen = mine;
      MPI_Allreduce(MPI_IN_PLACE, &chosen, 1, MPI_DOUBLE, better, world_.all);
      std::array<int, 4> where{};
      if (is_left && mine == chosen) {
        const auto& point = best.found()[next++].point;
        where = {world_.rank, point[0], point[1], point[2]};
      }
      MPI_Allreduce(MPI_IN_PLACE, where.data(), 4, MPI_INT, MPI_MAX, world_.all);
      put_charge(grids_.blocks.back(), {where[1], where[2], where[3]}, charge, grids_.v);
    }
  }

 private:
  static constexpr int up = 1, down = 2;

  /// Returns the distance to the next rank with points of a grid.
  [[nodiscard]] int distance(std::size_t level, std::size_t axis) const {
    return std::max(1, box_.ranks[axis] / (2 << level));
  }

  /// Whether this rank has u of a grid, or gets it, once it is spread along the axes up to this
  /// one.
  [[nodiscard]] bool takes_part(std::size_t level, std::size_t axis) const {
    for (std::size_t later = axis + 1; later < 3; ++later)
      if (grids_.blocks[level].points[later] == 0) return false;
    return true;
  }

  /// Sends one layer up and one down, and receives those from below and above.
  void swap(int above, int below, std::size_t count) {
    std::array<MPI_Request, 2> requests{};
    const auto size = static_cast<int>(count);
    MPI_Irecv(got_[0].data(), size, MPI_DOUBLE, below, up, world_.all, &requests[0]);
    MPI_Irecv(got_[1].data(), size, MPI_DOUBLE, above, down, world_.all, &requests[1]);
    send(above, sent_[0], count, up);
    send(below, sent_[1], count, down);
    MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
  }
  void send(int peer, const std::vector<double>& layer, std::size_t count, int tag) {
    MPI_Send(layer.data(), static_cast<int>(count), MPI_DOUBLE, peer, tag, world_.all);
  }
  void receive(int peer, std::vector<double>& layer, std::size_t count, int tag) {
    MPI_Recv(layer.data(), static_cast<int>(count), MPI_DOUBLE, peer, tag, world_.all,
             MPI_STATUS_IGNORE);
  }

  MpiWorld& world_;
  Box box_;
  Hierarchy& grids_;
  std::array<std::vector<double>, 2> sent_, got_;
};

class Mpi : public Kernel {
 public:
  Mpi(MpiWorld& world, char problem_class)
      : problem_(problem_of<Problem>(problems, problem_class)),
        exchange_(world, problem_, grids_),
        cycle_(problem_, grids_, exchange_) {
    find_charges(grids_.blocks.back(), problem_.size, largest_, smallest_);
  }

  void prepare() override {
    start();
    steps(1);
    start();
  }

  void run() override { norm_ = steps(problem_.iterations); }

  std::vector<Check> checks() override { return {{"norm", norm_, problem_.norm, tolerance}}; }

 protected:
  /// Some V-cycles; returns the norm of the residual after them.
  virtual double steps(int count) {
    cycle_.find_residual();
    norm(cycle_.residual_squares());
    for (int step = 0; step < count; ++step) cycle_.step();
    return norm(cycle_.residual_squares());
  }

  /// The norm, of what this rank adds to its square.
  double norm(double squares) {
    const double sum = exchange_.total(squares);
    exchange_.largest(sum);
    return std::sqrt(sum / points(problem_));
  }

  const Problem& problem_;
  Hierarchy grids_;
  MpiExchange exchange_;

 private:
  void start() {
    std::ranges::fill(grids_.u.back(), 0.0);
    std::ranges::fill(grids_.v, 0.0);
    exchange_.put_charges(largest_, MPI_MAX, 0, 1);
    exchange_.put_charges(smallest_, MPI_MIN, 1, -1);
    exchange_.halo(grids_.top(), grids_.v);
  }

  Cycle<MpiExchange> cycle_;
  Largest largest_;
  Smallest smallest_;
  double norm_ = 0;
};

}  // namespace nhalf::npb::mg
