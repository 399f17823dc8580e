// Measures the current cycle time of a core with a dependency chain of one cycle per step.
#pragma once

#include <cstdint>

namespace nhalf {

/// A dependency chain of register adds, which take one cycle each on every known processor. The
/// addend is a register, since some processors add constants during renaming.
class CycleChain {
 public:
  static constexpr int adds_per_round = 32;

  void run(std::uint64_t rounds) {
    auto sum = sum_;
    const auto step = step_;
    for (; rounds > 0; --rounds) {
      for (int i = 0; i < adds_per_round / 8; ++i) {
        add(sum, step);
        add(sum, step);
        add(sum, step);
        add(sum, step);
        add(sum, step);
        add(sum, step);
        add(sum, step);
        add(sum, step);
      }
    }
    sum_ = sum;
  }
  [[nodiscard]] std::uint64_t sum() const { return sum_; }

 private:
  static void add(std::uint64_t& sum, std::uint64_t step) {
#if defined(__x86_64__)
    asm volatile("add %1, %0" : "+r"(sum) : "r"(step) : "cc");
#elif defined(__aarch64__)
    asm volatile("add %0, %0, %1" : "+r"(sum) : "r"(step));
#elif defined(__powerpc64__)
    asm volatile("add %0, %0, %1" : "+r"(sum) : "r"(step));
#else
    sum += step;
    asm volatile("" : "+r"(sum));
#endif
  }

  std::uint64_t sum_ = 0;
  std::uint64_t step_ = 1;
};

/// Times a cycle with the chain, on a clock whose reading takes `overhead_s`.
template <class Clock>
class CycleWitness {
 public:
  CycleWitness(Clock& clock, double overhead_s) : clock_(clock), overhead_s_(overhead_s) {}

  double cycle_s() {
    const double start_s = clock_.now_s();
    chain_.run(rounds);
    const double spent_s = clock_.now_s() - start_s - overhead_s_;
    return spent_s / (rounds * CycleChain::adds_per_round);
  }

 private:
  static constexpr int rounds =
      400;  // 4 µs: long against the clock, short against frequency changes

  Clock& clock_;
  double overhead_s_;
  CycleChain chain_;
};

}  // namespace nhalf
