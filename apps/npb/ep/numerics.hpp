// EP: pairs of uniform numbers become Gaussian ones by the polar method.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "apps/npb/clones.hpp"
#include "apps/npb/random.hpp"

namespace nhalf::npb::ep {

/// Batches begin at known places of the sequence, so that any rank can compute any of them.
inline constexpr int log_batch = 16;
inline constexpr std::uint64_t seed = 271828183;
inline constexpr int annuli = 10;

/// Results of some pairs: the sums of |X| and |Y|, and how many have their larger one within [l,
/// l+1).
struct Tally {
  double sum_x = 0;
  double sum_y = 0;
  std::array<double, annuli> counts{};

  [[nodiscard]] double pairs() const { return std::accumulate(counts.begin(), counts.end(), 0.0); }
  void add(const Tally& other) {
    sum_x += other.sum_x;
    sum_y += other.sum_y;
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
  }
};

/// log t for a normal t, in operations that vector units have. The mantissa is taken between
/// sqrt(1/2) and sqrt(2); then log m = 2 artanh((m-1)/(m+1)) as a series of nine terms.
[[gnu::always_inline]] inline double logarithm(double t) {
  constexpr std::uint64_t half_root = 0x3fe6a09e667f3bcd;
  constexpr std::uint64_t mantissa = 0x000fffffffffffff;
  constexpr double two_to_52 = 4503599627370496.0;
  const std::uint64_t shifted = std::bit_cast<std::uint64_t>(t) - half_root;
  // Exponents are small negative numbers: offset by 2048 they fit the mantissa trick.
  const std::uint64_t exponent = (shifted + (std::uint64_t{2048} << 52)) >> 52;
  const double e =
      std::bit_cast<double>((exponent & 0xfff) | std::bit_cast<std::uint64_t>(two_to_52)) -
      (two_to_52 + 2048.0);
  const double m = std::bit_cast<double>((shifted & mantissa) + half_root);
  const double s = (m - 1) / (m + 1);
  const double z = s * s;
  double series = 1.0 / 19;
  series = series * z + 1.0 / 17;
  series = series * z + 1.0 / 15;
  series = series * z + 1.0 / 13;
  series = series * z + 1.0 / 11;
  series = series * z + 1.0 / 9;
  series = series * z + 1.0 / 7;
  series = series * z + 1.0 / 5;
  series = series * z + 1.0 / 3;
  return e * 0.693147180559945309417 + 2 * s * (series * z + 1);
}

/// Pairs inside of the unit circle, as many as a part of a batch can have.
struct Accepted {
  static constexpr std::size_t room = 1024;
  std::size_t count = 0;
  std::array<double, room> x;
  std::array<double, room> y;
  std::array<double, room> t;
};

/// Keeps the pairs of a part that lie in the unit circle, without a branch.
[[gnu::always_inline]] inline void accept(const std::array<double, 2 * Accepted::room>& numbers,
                                          Accepted& accepted) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < Accepted::room; ++i) {
    const double x = 2 * numbers[2 * i] - 1;
    const double y = 2 * numbers[2 * i + 1] - 1;
    const double t = x * x + y * y;
    accepted.x[count] = x;
    accepted.y[count] = y;
    accepted.t[count] = t;
    count += t <= 1 ? 1 : 0;
  }
  accepted.count = count;
}

/// Makes accepted pairs Gaussian and adds them up; `t` then holds the larger of both.
[[gnu::always_inline]] inline void transform(Accepted& accepted, Tally& tally) {
  double sum_x = 0;
  double sum_y = 0;
#pragma omp simd reduction(+ : sum_x, sum_y)
  for (std::size_t i = 0; i < accepted.count; ++i) {
    const double t = accepted.t[i];
    const double factor = std::sqrt(-2 * logarithm(t) / t);
    const double x = std::abs(accepted.x[i] * factor);
    const double y = std::abs(accepted.y[i] * factor);
    accepted.t[i] = x > y ? x : y;
    sum_x += x;
    sum_y += y;
  }
  tally.sum_x += sum_x;
  tally.sum_y += sum_y;
}

/// Counts by annulus: how many reach l less how many reach l + 1.
[[gnu::always_inline]] inline void count(const Accepted& accepted, Tally& tally) {
  double reached = static_cast<double>(accepted.count);
  for (int annulus = 0; annulus < annuli && reached > 0; ++annulus) {
    const double next = annulus + 1;
    double beyond = 0;
#pragma omp simd reduction(+ : beyond)
    for (std::size_t i = 0; i < accepted.count; ++i) beyond += accepted.t[i] >= next ? 1.0 : 0.0;
    tally.counts[static_cast<std::size_t>(annulus)] += reached - beyond;
    reached = beyond;
  }
}

/// Adds the batch of that number to a tally.
NHALF_CLONES inline void add_batch(std::uint64_t batch, Tally& tally) {
  constexpr std::uint64_t pairs = std::uint64_t{1} << log_batch;
  std::array<double, 2 * Accepted::room> numbers;
  Accepted accepted;
  Random random(seed);
  random.skip(2 * pairs * batch);
  for (std::uint64_t done = 0; done < pairs; done += Accepted::room) {
    random.fill(numbers);
    accept(numbers, accepted);
    transform(accepted, tally);
    count(accepted, tally);
  }
}

}  // namespace nhalf::npb::ep
