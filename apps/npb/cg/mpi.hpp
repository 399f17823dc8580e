// nhalf-needs: MPI
// CG in message passing (NAS-95-020): ranks are a grid of rows and columns, as many columns as rows
// or twice as many. A rank has a block of the matrix, and the part of the vectors that belongs to
// its column. A product is summed along the row of ranks in a butterfly, then swapped with the
// rank that has this rank's part; sums go through the same butterfly.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>
#include <vector>

#include "apps/npb/cg/numerics.hpp"
#include "apps/npb/mpi_world.hpp"

namespace nhalf::npb::cg {

/// Position of a rank in the grid.
struct Grid {
  int columns;
  int rows;
  int column;
  int row;
  /// Twice as many columns as rows: pairs of ranks halve what a row of ranks has.
  bool wide;

  Grid(int rank, int ranks)
      : columns(1 << ((std::bit_width(static_cast<unsigned>(ranks))) / 2)),
        rows(ranks / columns),
        column(rank % columns),
        row(rank / columns),
        wide(columns != rows) {}

  /// Returns the rank that has the part of a product for this rank's column, and needs this rank's
  /// part.
  [[nodiscard]] int mirror() const {
    if (!wide) return column * columns + row;
    return column / 2 * columns + 2 * row + column % 2;
  }
  /// Parts are numbered as columns: a row of ranks has one or two.
  [[nodiscard]] Range part(int size, int number) const {
    return Range::part_of(size, number, columns);
  }
  [[nodiscard]] Range row_block(int size) const { return Range::part_of(size, row, rows); }
};

/// The calls of MPI, on one rank's part of vectors.
class MpiExchange {
 public:
  MpiExchange(MpiWorld& world, const Problem& problem)
      : world_(world),
        grid_(world.rank, world.size),
        matrix_(MatrixMaker(problem, grid_.row_block(problem.size), own_part(problem.size)).make()),
        sums_(static_cast<std::size_t>(grid_.row_block(problem.size).size())),
        received_(sums_.size()) {
    const auto block = grid_.row_block(problem.size);
    kept_ = grid_.wide ? grid_.part(problem.size, 2 * grid_.row + grid_.column % 2) : block;
    given_ = grid_.wide ? grid_.part(problem.size, 2 * grid_.row + 1 - grid_.column % 2) : block;
    kept_ = {kept_.begin - block.begin, kept_.end - block.begin};
    given_ = {given_.begin - block.begin, given_.end - block.begin};
    for (auto* vector : {&x_, &z_, &p_, &q_, &r_})
      vector->resize(static_cast<std::size_t>(own_part(problem.size).size()));
  }

  [[nodiscard]] Part part() { return {x_, z_, p_, q_, r_}; }

  void multiply() { product(p_, q_); }
  void residual_product() { product(z_, r_); }

  void sum(std::span<double> numbers) {
    double others[2];
    world_.communicate([&] {
      for (int distance = grid_.columns / 2; distance > 0; distance /= 2) {
        swap(beside(distance), numbers, std::span(others, numbers.size()));
        for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] += others[i];
      }
    });
  }

 private:
  [[nodiscard]] Range own_part(int size) const { return grid_.part(size, grid_.column); }
  /// The rank of the same row that is as far away, in a butterfly.
  [[nodiscard]] int beside(int distance) const { return world_.rank ^ distance; }

  void product(std::span<const double> in, std::span<double> out) {
    cg::multiply(matrix_, 0, in.data(), sums_);
    if (grid_.columns == 1) {
      world_.communicate([&] { swap(grid_.mirror(), std::span(sums_), out); });
      return;
    }
    world_.communicate([&] {
      const auto kept = part_of(sums_, kept_);
      const auto received = part_of(received_, kept_);
      if (grid_.wide) {
        swap(beside(1), part_of(sums_, given_), received);
        add(kept, received);
      }
      for (int distance = grid_.wide ? 2 : 1; distance < grid_.columns; distance *= 2) {
        swap(beside(distance), kept, received);
        add(kept, received);
      }
      swap(grid_.mirror(), kept, out);
    });
  }

  static std::span<double> part_of(std::vector<double>& vector, Range range) {
    return std::span(vector).subspan(static_cast<std::size_t>(range.begin),
                                     static_cast<std::size_t>(range.size()));
  }
  static void add(std::span<double> to, std::span<const double> what) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += what[i];
  }

  void swap(int peer, std::span<const double> out, std::span<double> in) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(in.data(), static_cast<int>(in.size()), MPI_DOUBLE, peer, 0, world_.all, &request);
    MPI_Send(out.data(), static_cast<int>(out.size()), MPI_DOUBLE, peer, 0, world_.all);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }

  MpiWorld& world_;
  Grid grid_;
  Matrix matrix_;
  std::vector<double> x_, z_, p_, q_, r_;
  /// This rank's share of a product for all rows of its block, and what others send of theirs.
  std::vector<double> sums_, received_;
  Range kept_, given_;
};

class Mpi : public Kernel {
 public:
  Mpi(MpiWorld& world, char problem_class)
      : problem_(problem_of<Problem>(problems, problem_class)), exchange_(world, problem_) {}

  void prepare() override {
    std::ranges::fill(exchange_.part().x, 1.0);
    iterate(exchange_, exchange_.part(), problem_.shift);
    std::ranges::fill(exchange_.part().x, 1.0);
  }

  void run() override {
    for (int step = 0; step < problem_.iterations; ++step)
      zeta_ = iterate(exchange_, exchange_.part(), problem_.shift);
  }

  std::vector<Check> checks() override { return {{"zeta", zeta_, problem_.zeta, tolerance}}; }

 private:
  const Problem& problem_;
  MpiExchange exchange_;
  double zeta_ = 0;
};

}  // namespace nhalf::npb::cg
