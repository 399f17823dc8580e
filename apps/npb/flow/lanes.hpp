// Eight grid points at once, in vectors that every compiler maps to what its processor has.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>

#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wpsabi"  // all of it is inlined
#endif
#define NHALF_INLINE inline __attribute__((always_inline))

namespace nhalf::npb::flow {

using Index = std::ptrdiff_t;
using Lanes __attribute__((vector_size(64), aligned(64))) = double;
inline constexpr Index lane_count = 8;

/// A value for each of the five conserved quantities (density, three momenta, energy).
struct Vec5 {
  std::array<double, 5> v;
};
struct alignas(64) LaneVec5 {
  Lanes v[5];
};

NHALF_INLINE Lanes load(const double* from) {
  Lanes value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

NHALF_INLINE void store(double* to, const Lanes& value) {
  std::memcpy(to, &value, sizeof value);
}

/// Stores the first `count` lanes (at most eight).
NHALF_INLINE void store(double* to, const Lanes& value, Index count) {
  if (count >= lane_count) {
    store(to, value);
    return;
  }
  for (Index lane = 0; lane < count; ++lane) to[lane] = value[lane];
}

NHALF_INLINE Lanes broadcast(double value) {
  return Lanes{} + value;
}

/// Lane l of row r becomes lane r of row l.
NHALF_INLINE void transpose(Lanes (&t)[8]) {
  Lanes a[8];
  for (int i = 0; i < 8; i += 2) {
    a[i] = __builtin_shufflevector(t[i], t[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
    a[i + 1] = __builtin_shufflevector(t[i], t[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
  }
  Lanes b[8];
  for (int i = 0; i < 8; i += 4) {
    for (int j = i; j < i + 2; ++j) {
      b[j] = __builtin_shufflevector(a[j], a[j + 2], 0, 1, 8, 9, 4, 5, 12, 13);
      b[j + 2] = __builtin_shufflevector(a[j], a[j + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
  }
  for (int i = 0; i < 4; ++i) {
    t[i] = __builtin_shufflevector(b[i], b[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    t[i + 4] = __builtin_shufflevector(b[i], b[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

}  // namespace nhalf::npb::flow
