// nhalf-needs: MPI
// FT in slabs: a rank has planes of x and y, or all z of some y. Between both every rank sends
// every other one block, by MPI_Alltoall.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "apps/npb/ft/division.hpp"
#include "apps/npb/ft/numerics.hpp"
#include "apps/npb/ft/transpose.hpp"
#include "apps/npb/mpi_world.hpp"

namespace nhalf::npb::ft {

class Slabs : public Division {
 public:
  Slabs(MpiWorld& world, const Problem& problem)
      : world_(world),
        problem_(problem),
        transforms_(problem),
        decay_(problem),
        room_(transforms_.room()),
        planes_(problem.nz / world.size),
        rows_(problem.ny / world.size),
        row_(2 * static_cast<std::size_t>(problem.nx)) {
    const auto mine = row_ * static_cast<std::size_t>(problem_.ny * planes_);
    spectrum_.resize(mine);
    field_.resize(mine);
    if (world.size > 1) received_.resize(mine);
  }

  void start() override {
    for (int z = 0; z < planes_; ++z) {
      const auto at = plane() * static_cast<std::size_t>(z);
      fill_rows(problem_, world_.rank * planes_ + z, 0, std::span(spectrum_).subspan(at, plane()));
      transform_plane(transforms_, Direction::forward, spectrum_.data() + at, room_.data());
    }
    if (world_.size > 1) {
      pack();
      swap(field_, spectrum_);
    }
    for (int y = 0; y < rows_; ++y)
      transform_row(transforms_, spectrum_.data() + row_ * static_cast<std::size_t>(y), row_ / 2,
                    row_ / 2 * static_cast<std::size_t>(rows_), room_.data());
  }

  void evolve(int time) override {
    decay_.at(time);
    for (int y = 0; y < rows_; ++y) {
      const auto at = row_ * static_cast<std::size_t>(y);
      evolve_row(transforms_, decay_,
                 {static_cast<std::size_t>(world_.rank * rows_ + y), 0, row_ / 2},
                 spectrum_.data() + at, field_.data() + at,
                 row_ / 2 * static_cast<std::size_t>(rows_), room_.data());
    }
    if (world_.size > 1) {
      swap(field_, received_);
      unpack();
    }
    for (int z = 0; z < planes_; ++z)
      transform_plane(transforms_, Direction::inverse,
                      field_.data() + plane() * static_cast<std::size_t>(z), room_.data());
  }

  [[nodiscard]] Complex own_checksum() const override {
    return checksum(problem_, {world_.rank * planes_, planes_, 0, problem_.ny}, field_.data());
  }

 private:
  /// Blocks of rows of every plane, rank by rank; they arrive as all z of these rows.
  void pack() { move_blocks(spectrum_.data(), field_.data(), true); }
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
    transpose(world_, world_.all, world_.size, out, in);
  }

  [[nodiscard]] std::size_t plane() const { return row_ * static_cast<std::size_t>(problem_.ny); }

  MpiWorld& world_;
  const Problem& problem_;
  Transforms transforms_;
  Decay decay_;
  std::vector<double> room_;
  int planes_;
  int rows_;
  /// Number of doubles in a row.
  std::size_t row_;
  /// The field also holds what is sent.
  std::vector<double> spectrum_, field_, received_;
};

}  // namespace nhalf::npb::ft
