// FT: Fourier transforms of several lines at once, by Stockham's algorithm with radix 4.
#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>
#include <vector>

namespace nhalf::npb::ft {

/// Lines that are transformed together: element i of all of them is `lanes` real parts, then as
/// many imaginary ones, so that every operation is one of vectors.
inline constexpr std::size_t lanes = 8;
inline constexpr std::size_t width = 2 * lanes;

/// The roots of one length, which is a power of two, step by step.
class Fft {
 public:
  explicit Fft(int length) : length_(static_cast<std::size_t>(length)) {
    for (std::size_t now = length_; now >= 4; now /= 4) {
      for (std::size_t p = 0; p < now / 4; ++p) {
        for (std::size_t power = 1; power < 4; ++power) {
          const double angle =
              -2 * std::numbers::pi * static_cast<double>(p * power) / static_cast<double>(now);
          roots_.push_back(std::cos(angle));
          roots_.push_back(std::sin(angle));
        }
      }
    }
  }

  [[nodiscard]] std::size_t length() const { return length_; }

  /// Transforms the lines in `data` with exponent -1; where the result is, of both rooms.
  [[gnu::always_inline]] inline double* transform(double* data, double* other) const {
    const double* roots = roots_.data();
    std::size_t stride = 1;
    std::size_t now = length_;
    for (; now >= 4; now /= 4, stride *= 4) {
      step4(now / 4, stride, roots, data, other);
      roots += now / 4 * 6;
      std::swap(data, other);
    }
    if (now == 2) {
      step2(stride, data, other);
      std::swap(data, other);
    }
    return data;
  }

 private:
  [[gnu::always_inline]] static inline void step4(std::size_t groups, std::size_t stride,
                                                  const double* roots, const double* in,
                                                  double* out) {
    for (std::size_t p = 0; p < groups; ++p, roots += 6) {
      for (std::size_t q = 0; q < stride; ++q) {
        const double* a = in + (q + stride * p) * width;
        double* to = out + (q + stride * 4 * p) * width;
        butterfly(a, stride * groups * width, roots, to, stride * width);
      }
    }
  }

  [[gnu::always_inline]] static inline void butterfly(const double* in, std::size_t apart,
                                                      const double* roots, double* out,
                                                      std::size_t out_apart) {
#pragma omp simd
    for (std::size_t l = 0; l < lanes; ++l) {
      const double* a = in + l;
      const double* b = a + apart;
      const double* c = b + apart;
      const double* d = c + apart;
      double* to = out + l;
      const double sum_r = a[0] + c[0], sum_i = a[lanes] + c[lanes];
      const double gap_r = a[0] - c[0], gap_i = a[lanes] - c[lanes];
      const double odd_r = b[0] + d[0], odd_i = b[lanes] + d[lanes];
      const double turn_r = b[lanes] - d[lanes], turn_i = d[0] - b[0];
      to[0] = sum_r + odd_r;
      to[lanes] = sum_i + odd_i;
      const double r1 = gap_r + turn_r, i1 = gap_i + turn_i;
      to[out_apart] = roots[0] * r1 - roots[1] * i1;
      to[out_apart + lanes] = roots[0] * i1 + roots[1] * r1;
      const double r2 = sum_r - odd_r, i2 = sum_i - odd_i;
      to[2 * out_apart] = roots[2] * r2 - roots[3] * i2;
      to[2 * out_apart + lanes] = roots[2] * i2 + roots[3] * r2;
      const double r3 = gap_r - turn_r, i3 = gap_i - turn_i;
      to[3 * out_apart] = roots[4] * r3 - roots[5] * i3;
      to[3 * out_apart + lanes] = roots[4] * i3 + roots[5] * r3;
    }
  }

  [[gnu::always_inline]] static inline void step2(std::size_t stride, const double* in,
                                                  double* out) {
    const std::size_t half = stride * width;
#pragma omp simd
    for (std::size_t i = 0; i < half; ++i) {
      out[i] = in[i] + in[half + i];
      out[half + i] = in[i] - in[half + i];
    }
  }

  std::size_t length_;
  std::vector<double> roots_;
};

}  // namespace nhalf::npb::ft
