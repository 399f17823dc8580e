// Vectors of the widest kind that the compiler was told of (GNU C's vector extensions).
#pragma once

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
enum { lanes = 8 };
#define SHIFTED 1, 2, 3, 4, 5, 6, 7, 8
#elif defined(__AVX__)
enum { lanes = 4 };
#define SHIFTED 1, 2, 3, 4
#else
enum { lanes = 2 };
#define SHIFTED 1, 2
#endif

typedef double vector __attribute__((vector_size(lanes * sizeof(double))));
typedef long mask __attribute__((vector_size(lanes * sizeof(double))));
typedef double anywhere __attribute__((vector_size(lanes * sizeof(double)), aligned(8)));

static inline vector load(const double* from) {
  return *(const anywhere*)from;
}

static inline void store(double* to, vector value) {
  *(anywhere*)to = value;
}

// Elements 1 to `lanes` of both, one after the other: what a load one element further on would be.
static inline vector shifted(vector first, vector second) {
#if defined(__AVX512F__)
  return (vector)_mm512_alignr_epi64((__m512i)second, (__m512i)first, 1);
#elif defined(__clang__)
  return __builtin_shufflevector(first, second, SHIFTED);
#else
  return __builtin_shuffle(first, second, (mask){SHIFTED});
#endif
}

static inline vector lesser(vector a, vector b) {
#ifdef __AVX512F__
  return (vector)_mm512_min_pd((__m512d)a, (__m512d)b);
#else
  mask is_less = a < b;
  return (vector)(((mask)a & is_less) | ((mask)b & ~is_less));
#endif
}

static inline int has(vector numbers, double number) {
#ifdef __AVX512F__
  return _mm512_cmp_pd_mask((__m512d)numbers, _mm512_set1_pd(number), _CMP_EQ_OQ) != 0;
#else
  mask is_equal = numbers == number;
  long any = 0;
  for (int lane = 0; lane < lanes; lane++) any |= is_equal[lane];
  return any != 0;
#endif
}

static inline double sum_of(vector value) {
  double sum = 0.0;
  for (int lane = 0; lane < lanes; lane++) sum += value[lane];
  return sum;
}
