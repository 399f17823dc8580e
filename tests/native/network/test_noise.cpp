#include "network/wires.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>

namespace {

using nhalf::network::Noise;
using nhalf::network::Noisy;

Noise noise(std::uint64_t seed) {
  Noise made;
  made.share_ppm = 100'000;
  made.seed = seed;
  return made;
}

TEST_CASE("without noise nothing is added") {
  CHECK(Noise().added(1'000'000, Noisy::message, 3, 4) == 0);
}

TEST_CASE("a draw depends on nothing but seed, rank, kind and number") {
  const auto first = noise(1).added(1'000'000, Noisy::message, 3, 4);
  CHECK(noise(1).added(1'000'000, Noisy::message, 3, 5) != first);
  CHECK(noise(1).added(1'000'000, Noisy::message, 3, 4) == first);
  CHECK(noise(2).added(1'000'000, Noisy::message, 3, 4) != first);
  CHECK(noise(1).added(1'000'000, Noisy::message, 4, 3) != first);
  CHECK(noise(1).added(1'000'000, Noisy::computing, 3, 4) != first);
}

TEST_CASE("draws are exponential, with the mean that was asked for") {
  constexpr int count = 40'000;
  double sum = 0;
  double squares = 0;
  int above = 0;
  for (int number = 0; number < count; ++number) {
    const auto drawn = static_cast<double>(
        noise(7).added(1'000'000, Noisy::message, number % 8, static_cast<unsigned>(number / 8)));
    sum += drawn;
    squares += drawn * drawn;
    above += drawn > 100'000 ? 1 : 0;
  }
  // The error of the mean is its 200th part.
  const double mean = sum / count;
  CHECK(mean == doctest::Approx(100'000).epsilon(0.02));
  CHECK(std::sqrt(squares / count - mean * mean) == doctest::Approx(100'000).epsilon(0.04));
  CHECK(static_cast<double>(above) / count == doctest::Approx(std::exp(-1.0)).epsilon(0.03));
}

}  // namespace
