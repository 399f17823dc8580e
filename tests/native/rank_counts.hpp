// With how many ranks patterns are tried.
#pragma once

namespace nhalf {

/// One number of every kind: the least, odd ones, a power of two; in the full tests all up to one
/// more than the next power.
#ifdef NHALF_FULL_TESTS
inline constexpr int rank_counts[] = {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17};
#else
inline constexpr int rank_counts[] = {2, 3, 5, 8};
#endif

}  // namespace nhalf
