// The random numbers of the NAS Parallel Benchmarks (RNR-94-007, section 2.3).
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace nhalf::npb {

/// x <- a x mod 2^46 with a = 5^13; a number is x / 2^46, between 0 and 1. In 64 bits the product
/// loses only what the modulus drops.
class Random {
 public:
  static constexpr std::uint64_t multiplier = 1220703125;
  /// Seed of CG, FT, IS and MG; EP has its own.
  static constexpr std::uint64_t usual_seed = 314159265;

  constexpr explicit Random(std::uint64_t seed = usual_seed) : state_(seed) {}

  [[nodiscard]] constexpr double next() { return number_of(state_ = times(state_, multiplier)); }

  /// Goes on by `count` numbers in as many steps as the count has bits.
  constexpr void skip(std::uint64_t count) { state_ = times(state_, power(count)); }

  [[nodiscard]] constexpr std::uint64_t state() const { return state_; }

  /// a^count mod 2^46.
  static constexpr std::uint64_t power(std::uint64_t count) {
    std::uint64_t result = 1;
    for (std::uint64_t base = multiplier; count > 0; count >>= 1, base = times(base, base))
      if (count & 1) result = times(result, base);
    return result;
  }

  /// Fills a span with the next numbers; its length is a multiple of `lanes`.
  [[gnu::always_inline]] inline void fill(std::span<double> out) {
    std::array<std::uint64_t, lanes> states;
    std::uint64_t state = state_;
    for (auto& element : states) element = state = times(state, multiplier);
    const std::uint64_t stride = power(lanes);
    for (std::size_t at = 0; at < out.size(); at += lanes) {
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        out[at + lane] = number_of(states[lane]);
        states[lane] = times(states[lane], stride);
      }
    }
    skip(out.size());
  }

  static constexpr std::size_t lanes = 16;

 private:
  static constexpr std::uint64_t mask = (std::uint64_t{1} << 46) - 1;

  static constexpr std::uint64_t times(std::uint64_t a, std::uint64_t b) { return a * b & mask; }

  /// Converts by way of the mantissa of 2^52 + x, which vector units without such a conversion can
  /// do, too.
  static constexpr double number_of(std::uint64_t state) {
    constexpr double two_to_52 = 4503599627370496.0;
    constexpr double scale = 1.0 / 70368744177664.0;
    return (std::bit_cast<double>(state | std::bit_cast<std::uint64_t>(two_to_52)) - two_to_52) *
           scale;
  }

  std::uint64_t state_;
};

}  // namespace nhalf::npb
