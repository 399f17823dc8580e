// nhalf-needs: MPI
// FT in pencils, for more ranks than there are planes: ranks are a grid over z and y. A rank has
// whole rows in x; then whole columns in y, of some x; then all z of some x and y. In between,
// ranks of the same z transpose x and y, and ranks of the same x transpose y and z.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "apps/npb/ft/division.hpp"
#include "apps/npb/ft/numerics.hpp"
#include "apps/npb/ft/transpose.hpp"
#include "apps/npb/mpi_world.hpp"

namespace nhalf::npb::ft {

class Pencils : public Division {
 public:
  Pencils(MpiWorld& world, const Problem& problem)
      : world_(world),
        problem_(problem),
        transforms_(problem),
        decay_(problem),
        room_(transforms_.room()),
        ranks_y_(world.size / problem.nz),
        z_(world.rank / ranks_y_),
        y_(world.rank % ranks_y_),
        rows_(problem.ny / ranks_y_),
        columns_(static_cast<std::size_t>(problem.nx / ranks_y_)),
        rows_of_z_(static_cast<std::size_t>(problem.ny / problem.nz)) {
    MPI_Comm_split(world.all, z_, y_, &same_z_);
    MPI_Comm_split(world.all, y_, z_, &same_x_);
    const auto mine = 2 * static_cast<std::size_t>(problem.nx) * static_cast<std::size_t>(rows_);
    for (auto* field : {&spectrum_, &field_, &other_}) field->resize(mine);
  }
  ~Pencils() override {
    MPI_Comm_free(&same_z_);
    MPI_Comm_free(&same_x_);
  }

  void start() override {
    fill_rows(problem_, z_, y_ * rows_, field_);
    transform_along_x(transforms_, Direction::forward, field_, room_.data());
    move_columns(field_.data(), other_.data(), true);
    transpose(world_, same_z_, ranks_y_, other_, field_);
    // Consecutive blocks of rows of a single plane are the plane itself.
    transform_along_y(transforms_, Direction::forward, field_.data(), columns_, room_.data());
    transpose(world_, same_x_, problem_.nz, field_, spectrum_);
    for (std::size_t y = 0; y < rows_of_z_; ++y)
      transform_row(transforms_, spectrum_.data() + 2 * y * columns_, columns_,
                    rows_of_z_ * columns_, room_.data());
  }

  void evolve(int time) override {
    decay_.at(time);
    const auto first_y = static_cast<std::size_t>(z_) * rows_of_z_;
    const auto first_x = static_cast<std::size_t>(y_) * columns_;
    for (std::size_t y = 0; y < rows_of_z_; ++y) {
      const auto at = 2 * y * columns_;
      evolve_row(transforms_, decay_, {first_y + y, first_x, columns_}, spectrum_.data() + at,
                 other_.data() + at, rows_of_z_ * columns_, room_.data());
    }
    transpose(world_, same_x_, problem_.nz, other_, field_);
    transform_along_y(transforms_, Direction::inverse, field_.data(), columns_, room_.data());
    transpose(world_, same_z_, ranks_y_, field_, other_);
    move_columns(other_.data(), field_.data(), false);
    transform_along_x(transforms_, Direction::inverse, field_, room_.data());
  }

  [[nodiscard]] Complex own_checksum() const override {
    return checksum(problem_, {z_, 1, y_ * rows_, rows_}, field_.data());
  }

 private:
  /// Rows to blocks of columns, rank by rank, or back.
  void move_columns(const double* from, double* to, bool packs) const {
    const auto piece = 2 * columns_;
    const auto row = 2 * static_cast<std::size_t>(problem_.nx);
    const auto rows = static_cast<std::size_t>(rows_);
    for (std::size_t y = 0; y < rows; ++y) {
      for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks_y_); ++rank) {
        const auto by_row = row * y + piece * rank;
        const auto by_rank = piece * (rows * rank + y);
        const double* source = from + (packs ? by_row : by_rank);
        std::copy(source, source + piece, to + (packs ? by_rank : by_row));
      }
    }
  }

  MpiWorld& world_;
  const Problem& problem_;
  Transforms transforms_;
  Decay decay_;
  std::vector<double> room_;
  /// Ranks of one plane, this rank's plane, and its place among those of the plane.
  int ranks_y_;
  int z_;
  int y_;
  /// Whole rows of a rank; columns of a rank; rows of them when it has all z.
  int rows_;
  std::size_t columns_;
  std::size_t rows_of_z_;
  MPI_Comm same_z_ = MPI_COMM_NULL;
  MPI_Comm same_x_ = MPI_COMM_NULL;
  std::vector<double> spectrum_, field_, other_;
};

}  // namespace nhalf::npb::ft
