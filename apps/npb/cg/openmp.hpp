// CG in OpenMP: a thread has some rows of the matrix and of all vectors, which all threads read.
// Before a product they wait for each other, and in every sum.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "apps/npb/cg/numerics.hpp"
#include "apps/npb/openmp_world.hpp"
#include "apps/npb/team_sum.hpp"

namespace nhalf::npb::cg {

/// State of all threads.
struct Shared {
  Matrix matrix;
  std::vector<double> x, z, p, q, r;
  TeamSum sum;
};

/// One thread's view of that state.
class OpenMpExchange {
 public:
  OpenMpExchange(OpenMpWorld& world, Shared& shared, int thread)
      : world_(world),
        shared_(shared),
        thread_(thread),
        rows_(balanced(shared.matrix, thread, shared.sum.threads())) {}

  [[nodiscard]] Part part() {
    return {own(shared_.x), own(shared_.z), own(shared_.p), own(shared_.q), own(shared_.r)};
  }
  void multiply() { product(shared_.p, shared_.q); }
  void residual_product() { product(shared_.z, shared_.r); }
  void sum(std::span<double> numbers) { shared_.sum.add(thread_, numbers); }

 private:
  /// Rows with the same share of all elements.
  static Range balanced(const Matrix& matrix, int thread, int threads) {
    const auto at = [&](int number) {
      const auto elements = matrix.row_begin.back() * number / threads;
      const auto row = std::ranges::lower_bound(matrix.row_begin, elements);
      return static_cast<int>(row - matrix.row_begin.begin());
    };
    const int rows = static_cast<int>(matrix.row_begin.size()) - 1;
    return {at(thread), thread + 1 == threads ? rows : at(thread + 1)};
  }

  void product(const std::vector<double>& in, std::vector<double>& out) {
    world_.wait();
    cg::multiply(shared_.matrix, rows_.begin, in.data(), own(out));
  }

  std::span<double> own(std::vector<double>& vector) {
    return std::span(vector).subspan(static_cast<std::size_t>(rows_.begin),
                                     static_cast<std::size_t>(rows_.size()));
  }

  OpenMpWorld& world_;
  Shared& shared_;
  int thread_;
  Range rows_;
};

class OpenMp : public Kernel {
 public:
  OpenMp(OpenMpWorld& world, char problem_class)
      : world_(world),
        problem_(problem_of<Problem>(problems, problem_class)),
        shared_{.matrix = MatrixMaker(problem_, {0, problem_.size}, {0, problem_.size}).make(),
                .x = {},
                .z = {},
                .p = {},
                .q = {},
                .r = {},
                .sum = TeamSum(world)} {
    for (auto* vector : {&shared_.x, &shared_.z, &shared_.p, &shared_.q, &shared_.r})
      vector->resize(static_cast<std::size_t>(problem_.size));
  }

  void prepare() override {
    std::ranges::fill(shared_.x, 1.0);
    steps(1);
    std::ranges::fill(shared_.x, 1.0);
  }

  void run() override { steps(problem_.iterations); }

  std::vector<Check> checks() override { return {{"zeta", zeta_, problem_.zeta, tolerance}}; }

 private:
  void steps(int count) {
    world_.team([&](int thread) {
      OpenMpExchange exchange(world_, shared_, thread);
      double zeta = 0;
      for (int step = 0; step < count; ++step)
        zeta = iterate(exchange, exchange.part(), problem_.shift);
      if (thread == 0) zeta_ = zeta;
    });
  }

  OpenMpWorld& world_;
  const Problem& problem_;
  Shared shared_;
  double zeta_ = 0;
};

}  // namespace nhalf::npb::cg
