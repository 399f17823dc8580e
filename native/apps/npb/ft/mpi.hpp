// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// FT in message passing: a rank has planes of x and y, or all z of some y. Between both every rank
// sends every other one block, by MPI_Alltoall; checksums are added at rank 0.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "apps/npb/ft/numerics.hpp"
#include "apps/npb/mpi_world.hpp"

namespace nhalf::npb::ft {

class Mpi : public Kernel {
 public:
  Mpi(MpiWorld& world, char problem_class)
      : world_(world),
        problem_(problem_of<Problem>(problems, problem_class)),
        transforms_(problem_),
        decay_(problem_),
        room_(transforms_.room()) {
    if (world.size > std::min(problem_.nz, problem_.ny))
      throw InputError(std::string("class ") + problem_class + " of npb-ft runs on " +
                       std::to_string(std::min(problem_.nz, problem_.ny)) + " ranks at most");
    planes_ = problem_.nz / world.size;
    rows_ = problem_.ny / world.size;
    row_ = 2 * static_cast<std::size_t>(problem_.nx);
    const auto mine = row_ * static_cast<std::size_t>(problem_.ny * planes_);
    spectrum_.resize(mine);
    field_.resize(mine);
    sums_.resize(problem_.checksums.size());
    if (world.size == 1) return;
    packed_.resize(mine);
    received_.resize(mine);
  }

  void prepare() override { start(); }

  void run() override {
    start();
    for (std::size_t step = 0; step < sums_.size(); ++step) {
      evolve(static_cast<int>(step) + 1);
      add_checksum(sums_[step]);
    }
  }

  std::vector<Check> checks() override { return checks_of(problem_, sums_); }

 private:
  /// The numbers that it begins with, and their transform, by y.
  void start() {
    for (int z = 0; z < planes_; ++z) {
      const auto at = plane() * static_cast<std::size_t>(z);
      fill_plane(problem_, world_.rank * planes_ + z, std::span(spectrum_).subspan(at, plane()));
      transform_plane(transforms_, Direction::forward, spectrum_.data() + at, room_.data());
    }
    if (world_.size > 1) {
      pack();
      swap(packed_, spectrum_);
    }
    for (int y = 0; y < rows_; ++y)
      transform_row(transforms_, spectrum_.data() + row_ * static_cast<std::size_t>(y),
                    row_ / 2 * static_cast<std::size_t>(rows_), room_.data());
  }

  /// The field at a time.
  void evolve(int time) {
    decay_.at(time);
    auto& target = world_.size > 1 ? packed_ : field_;
    for (int y = 0; y < rows_; ++y) {
      const auto at = row_ * static_cast<std::size_t>(y);
      evolve_row(transforms_, decay_, static_cast<std::size_t>(world_.rank * rows_ + y),
                 spectrum_.data() + at, target.data() + at,
                 row_ / 2 * static_cast<std::size_t>(rows_), room_.data());
    }
    if (world_.size > 1) {
      swap(packed_, received_);
      unpack();
    }
    for (int z = 0; z < planes_; ++z)
      transform_plane(transforms_, Direction::inverse,
                      field_.data() + plane() * static_cast<std::size_t>(z), room_.data());
  }

  /// Blocks of rows of every plane, rank by rank; they arrive as all z of these rows.
  void pack() { move_blocks(spectrum_.data(), packed_.data(), true); }
  void unpack() { move_blocks(received_.data(), field_.data(), false); }

  void move_blocks(const double* from, double* to, bool packs) const {
    const auto block = row_ * static_cast<std::size_t>(rows_);
    for (int z = 0; z < planes_; ++z) {
      for (int rank = 0; rank < world_.size; ++rank) {
        const auto by_plane =
            plane() * static_cast<std::size_t>(z) + block * static_cast<std::size_t>(rank);
        const auto by_rank = block * static_cast<std::size_t>(rank * planes_ + z);
        const double* source = from + (packs ? by_plane : by_rank);
        std::copy(source, source + block, to + (packs ? by_rank : by_plane));
      }
    }
  }

  void swap(std::vector<double>& out, std::vector<double>& in) {
    const auto count = static_cast<int>(out.size() / static_cast<std::size_t>(world_.size));
    world_.communicate([&] {
      MPI_Alltoall(out.data(), count, MPI_DOUBLE, in.data(), count, MPI_DOUBLE, world_.all);
    });
  }

  void add_checksum(Complex& sum) {
    const auto mine = checksum(problem_, world_.rank * planes_, planes_, field_.data());
    world_.communicate([&] { MPI_Reduce(&mine, &sum, 2, MPI_DOUBLE, MPI_SUM, 0, world_.all); });
  }

  [[nodiscard]] std::size_t plane() const { return row_ * static_cast<std::size_t>(problem_.ny); }

  MpiWorld& world_;
  const Problem& problem_;
  Transforms transforms_;
  Decay decay_;
  std::vector<double> room_;
  int planes_ = 0;
  int rows_ = 0;
  /// Doubles in a row.
  std::size_t row_ = 0;
  std::vector<double> spectrum_, field_, packed_, received_;
  std::vector<Complex> sums_;
};

}  // namespace nhalf::npb::ft
