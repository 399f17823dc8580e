// Noise: what a machine's own activity adds to times, drawn from an exponential distribution, the
// light-tailed one of S. Agarwal, R. Garg, N. Vishnoi, "The impact of noise on the scaling of
// collectives: a theoretical approach" (HiPC 2005). A draw depends on the seed, the rank and its
// number there, whenever the rank runs.
#pragma once

#include <cmath>
#include <initializer_list>

#include "network/picoseconds.hpp"

namespace nhalf::network {
/// Whose times noise lengthens.
enum class Noisy : std::uint64_t { message, computing };

class Noise {
 public:
  /// The mean of what is added, in millionths of a time; 0: no noise.
  std::uint64_t share_ppm = 0;
  std::uint64_t seed = 0;

  /// Returns what is added to a time of a rank, of which it is the `number`-th of its kind.
  [[nodiscard]] Picoseconds added(Picoseconds time, Noisy kind, int rank,
                                  std::uint64_t number) const {
    if (share_ppm == 0) return 0;
    auto state = mixed(seed);
    for (const auto part :
         {static_cast<std::uint64_t>(rank), static_cast<std::uint64_t>(kind), number})
      state = mixed(state ^ part);
    // In (0, 1], so that the logarithm is finite.
    const double uniform = static_cast<double>((state >> 11) + 1) * 0x1p-53;
    const double mean = static_cast<double>(time) * static_cast<double>(share_ppm) * 1e-6;
    return static_cast<Picoseconds>(std::llround(-std::log(uniform) * mean));
  }

 private:
  /// A step of SplitMix64 (G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number
  /// generators", OOPSLA 2014).
  static std::uint64_t mixed(std::uint64_t state) {
    state += 0x9E37'79B9'7F4A'7C15u;
    state = (state ^ (state >> 30)) * 0xBF58'476D'1CE4'E5B9u;
    state = (state ^ (state >> 27)) * 0x94D0'49BB'1331'11EBu;
    return state ^ (state >> 31);
  }
};
}  // namespace nhalf::network
