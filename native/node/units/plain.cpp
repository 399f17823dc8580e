// Kernels that every processor of an architecture runs, and those without vectors.
#include "node/core.hpp"
#include "node/units/loops.hpp"
#include "node/units/moves.hpp"

namespace nhalf {
namespace {
#if defined(__aarch64__)
struct Fused {
  static void apply(double& x, const double& a, const double& b) {
    asm("fmadd %d0, %d0, %d1, %d2" : "+w"(x) : "w"(a), "w"(b));
  }
  static void apply(Vector<128>::Type& x, const Vector<128>::Type& a, const Vector<128>::Type& b) {
    asm("fmla %0.2d, %1.2d, %2.2d" : "+w"(x) : "w"(a), "w"(b));
  }
};
struct SqrtThenMultiply {
  static void apply(double& x, const double&, const double& b) {
    asm("fsqrt %d0, %d0" : "+w"(x));
    x = x * b;
  }
  static void apply(Vector<128>::Type& x, const Vector<128>::Type&, const Vector<128>::Type& b) {
    asm("fsqrt %0.2d, %0.2d" : "+w"(x));
    x = x * b;
  }
};
#elif defined(__powerpc64__)
struct Fused {
  static void apply(double& x, const double& a, const double& b) {
    asm("xsmaddadp %x0, %x1, %x2" : "+wa"(x) : "wa"(a), "wa"(b));
  }
  static void apply(Vector<128>::Type& x, const Vector<128>::Type& a, const Vector<128>::Type& b) {
    asm("xvmaddadp %x0, %x1, %x2" : "+wa"(x) : "wa"(a), "wa"(b));
  }
};
struct SqrtThenMultiply {
  static void apply(double& x, const double&, const double& b) {
    asm("xssqrtdp %x0, %x0" : "+wa"(x));
    x = x * b;
  }
  static void apply(Vector<128>::Type& x, const Vector<128>::Type&, const Vector<128>::Type& b) {
    asm("xvsqrtdp %x0, %x0" : "+wa"(x));
    x = x * b;
  }
};
#elif defined(__x86_64__)
struct SqrtThenMultiply {
  static void apply(double& x, const double&, const double& b) {
    asm("sqrtsd %0, %0" : "+x"(x));
    x = x * b;
  }
  static void apply(Vector<128>::Type& x, const Vector<128>::Type&, const Vector<128>::Type& b) {
    asm("sqrtpd %0, %0" : "+x"(x));
    x = x * b;
  }
};
#endif

/// Stores a `double` and loads it again, as unoptimised code does at every step.
void forwarding(std::uint64_t rounds, void* memory) {
  volatile double* const place = static_cast<volatile double*>(memory);
  double x = 1.1357;
  for (; rounds > 0; --rounds) {
#pragma GCC unroll 8
    for (int i = 0; i < steps_per_round; ++i) {
      *place = x;
      x = *place;
      pin(x);
    }
  }
}

/// Adds to a `double` in memory, with other work between the steps: store-to-load forwarding may be
/// faster when the load comes later.
void forwarded_add(std::uint64_t rounds, void* memory) {
  volatile double* const place = static_cast<volatile double*>(memory);
  double a = 1.0;
  pin(a);
  for (; rounds > 0; --rounds) {
#pragma GCC unroll 8
    for (int i = 0; i < steps_per_round; ++i) {
      double x = *place;
      x += a;
      pin(x);
      *place = x;
      for (int k = 0; k < 12; ++k) idle();
    }
  }
}

/// Increments a counter in memory with a load, an add and a store.
struct Stored {
  static void increase(volatile std::uint64_t& number) {
    std::uint64_t value = number;
    asm volatile("" : "+r"(value));
    number = value + 1;
  }
};
/// Increments a counter in memory with a single instruction where there is one.
struct Updated {
  static void increase(volatile std::uint64_t& number) {
#if defined(__x86_64__)
    asm volatile("addq $1, %0" : "+m"(number) : : "cc");
#else
    Stored::increase(number);
#endif
  }
};

/// Increments an integer in memory, as unoptimised code does with a counter: some processors
/// forward it by its address without waiting for the store.
void integer_forwarding(std::uint64_t rounds, void* memory) {
  volatile std::uint64_t* const place = static_cast<volatile std::uint64_t*>(memory);
  for (; rounds > 0; --rounds) {
#pragma GCC unroll 8
    for (int i = 0; i < steps_per_round; ++i) Updated::increase(*place);
  }
}

/// Fills all issue slots.
void issue(std::uint64_t rounds, void*) {
  idle_rounds(rounds);
}

template <int chains>
void integer_adds(std::uint64_t rounds, void*) {
  std::uint64_t x[chains] = {};
  std::uint64_t step = 1;
  asm volatile("" : "+r"(step));
  for (; rounds > 0; --rounds) {
#pragma GCC unroll 8
    for (int i = 0; i < steps_per_round; ++i) {
#pragma GCC unroll 8
      for (int k = 0; k < chains; ++k) {
        x[k] += step;
        asm volatile("" : "+r"(x[k]));
      }
    }
  }
}

/// Loads integers, of which some processors load more per cycle than of floating-point numbers.
void integer_loads(std::uint64_t rounds, void* memory) {
  const volatile std::uint64_t* const place = static_cast<const volatile std::uint64_t*>(memory);
  for (; rounds > 0; --rounds) {
#pragma GCC unroll 32
    for (int i = 0; i < accesses_per_round; ++i) {
      std::uint64_t loaded = place[i];
      asm volatile("" : "+r"(loaded));
    }
  }
}

void integer_stores(std::uint64_t rounds, void* memory) {
  volatile std::uint64_t* const place = static_cast<volatile std::uint64_t*>(memory);
  std::uint64_t value = 1;
  asm volatile("" : "+r"(value));
  for (; rounds > 0; --rounds) {
#pragma GCC unroll 32
    for (int i = 0; i < accesses_per_round; ++i) place[i] = value;
  }
}

constexpr int forwarded_loads = 5;

/// Increments an integer in memory and loads it repeatedly, as unoptimised code does with the
/// counter of a loop.
template <class Increment>
void forwarded(std::uint64_t rounds, void* memory) {
  volatile std::uint64_t* const place = static_cast<volatile std::uint64_t*>(memory);
  for (; rounds > 0; --rounds) {
#pragma GCC unroll 8
    for (int i = 0; i < steps_per_round; ++i) {
      Increment::increase(*place);
#pragma GCC unroll 4
      for (int k = 1; k < forwarded_loads; ++k) {
        std::uint64_t loaded = *place;
        asm volatile("" : "+r"(loaded));
      }
    }
  }
}

constexpr UnitKernel kernels[] = {
    {"issue", 0, many, idle_per_round, &issue},
    {"integer-add", 64, 1, steps_per_round, &integer_adds<1>},
    {"integer-add", 64, 8, steps_per_round * 8, &integer_adds<8>},
    {"whole-load", 64, many, accesses_per_round, &integer_loads},
    {"forwarded-load", 64, many, steps_per_round * forwarded_loads, &forwarded<Stored>},
    {"updated-load", 64, many, steps_per_round * forwarded_loads, &forwarded<Updated>},
    {"whole-store", 64, many, accesses_per_round, &integer_stores},
    {"store-forward", 64, 1, steps_per_round, &forwarding},
    {"store-forward-add", 64, 1, steps_per_round, &forwarded_add},
    {"integer-store-forward", 64, 1, steps_per_round, &integer_forwarding},
    NHALF_ARITHMETIC(64),
    NHALF_ACCESSES(64),
    NHALF_ARITHMETIC(128),
    NHALF_ACCESSES(128),
#if defined(__aarch64__) || defined(__powerpc64__)
    NHALF_UNIT("fused", Fused, 64),
    NHALF_UNIT("fused", Fused, 128),
#endif
#if defined(__aarch64__) || defined(__powerpc64__) || defined(__x86_64__)
    NHALF_UNIT("root-times", SqrtThenMultiply, 64),
    NHALF_UNIT("root-times", SqrtThenMultiply, 128),
#endif
#if defined(__x86_64__)
    NHALF_MOVES,
#endif
};
}  // namespace

UnitKernels plain_kernels() {
  return {kernels, sizeof kernels / sizeof *kernels};
}
}  // namespace nhalf
