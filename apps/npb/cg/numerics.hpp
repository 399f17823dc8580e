// CG: what is computed on a part of the vectors, and the order of it. Who exchanges how is the
// matter of an Exchange, which has the functions
//   multiply()          q = A p for this part's rows
//   residual_product()  r = A z, in the same way
//   sum(numbers)        totals over all parts, at all of them
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "apps/npb/cg/matrix.hpp"
#include "apps/npb/clones.hpp"

namespace nhalf::npb::cg {

/// A part of every vector.
struct Part {
  std::span<double> x;
  std::span<double> z;
  std::span<double> p;
  std::span<double> q;
  std::span<double> r;
};

/// out = A in, for rows from `first` on, as many as there is room for.
NHALF_CLONES inline void multiply(const Matrix& matrix, int first, const double* in,
                                  std::span<double> out) {
  const std::int64_t* row_begin = matrix.row_begin.data() + first;
  const int* column = matrix.column.data();
  const double* value = matrix.value.data();
  for (std::size_t row = 0; row < out.size(); ++row) {
    double sum = 0;
    const std::int64_t end = row_begin[row + 1];
#pragma omp simd reduction(+ : sum)
    for (std::int64_t k = row_begin[row]; k < end; ++k) sum += value[k] * in[column[k]];
    out[row] = sum;
  }
}

NHALF_CLONES inline double dot(std::span<const double> left, std::span<const double> right) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::size_t i = 0; i < left.size(); ++i) sum += left[i] * right[i];
  return sum;
}

/// z += alpha p, r -= alpha q; the square of the new r.
NHALF_CLONES inline double advance(const Part& part, double alpha) {
  double sum = 0;
  double* z = part.z.data();
  double* r = part.r.data();
  const double* p = part.p.data();
  const double* q = part.q.data();
#pragma omp simd reduction(+ : sum)
  for (std::size_t i = 0; i < part.z.size(); ++i) {
    z[i] += alpha * p[i];
    r[i] -= alpha * q[i];
    sum += r[i] * r[i];
  }
  return sum;
}

/// p = r + beta p.
NHALF_CLONES inline void turn(const Part& part, double beta) {
  double* p = part.p.data();
  const double* r = part.r.data();
#pragma omp simd
  for (std::size_t i = 0; i < part.p.size(); ++i) p[i] = r[i] + beta * p[i];
}

/// The square of x - r.
NHALF_CLONES inline double distance(const Part& part) {
  double sum = 0;
  const double* x = part.x.data();
  const double* r = part.r.data();
#pragma omp simd reduction(+ : sum)
  for (std::size_t i = 0; i < part.x.size(); ++i) sum += (x[i] - r[i]) * (x[i] - r[i]);
  return sum;
}

/// z = 0, r = x, p = r; the square of r.
NHALF_CLONES inline double begin(const Part& part) {
  double sum = 0;
  for (std::size_t i = 0; i < part.x.size(); ++i) {
    part.z[i] = 0;
    part.r[i] = part.p[i] = part.x[i];
    sum += part.x[i] * part.x[i];
  }
  return sum;
}

template <class Exchange>
double total(Exchange& exchange, double number) {
  exchange.sum(std::span(&number, 1));
  return number;
}

/// Solves A z = x in some steps of conjugate gradients, and returns |x - A z|.
template <class Exchange>
double solve(Exchange& exchange, const Part& part) {
  double rho = total(exchange, begin(part));
  for (int step = 0; step < inner_steps; ++step) {
    exchange.multiply();
    const double alpha = rho / total(exchange, dot(part.p, part.q));
    const double before = rho;
    rho = total(exchange, advance(part, alpha));
    turn(part, rho / before);
  }
  exchange.residual_product();
  return std::sqrt(total(exchange, distance(part)));
}

/// One step of inverse iteration: x becomes the normalised solution; the estimate with `shift`.
template <class Exchange>
double iterate(Exchange& exchange, const Part& part, double shift) {
  solve(exchange, part);
  std::array<double, 2> products{dot(part.x, part.z), dot(part.z, part.z)};
  exchange.sum(products);
  const double scale = 1 / std::sqrt(products[1]);
  for (std::size_t i = 0; i < part.x.size(); ++i) part.x[i] = scale * part.z[i];
  return shift + 1 / products[0];
}

}  // namespace nhalf::npb::cg
