// The cycle time of a core, by a dependency chain of one cycle per step, and whether another thread
// shares it (simultaneous multithreading).
#pragma once

#include "contract/vocabulary.hpp"

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

// Detects whether another thread shares this core (simultaneous multithreading), by instructions
// that need no execution unit, so that issue slots alone limit them.

namespace {
inline constexpr int idle_per_round = 64;

/// Executes a no-op of usual length: decoders and the micro-op cache take fewer of the shortest
/// instructions in a cycle.
inline void idle() {
#if defined(__x86_64__)
  asm volatile(".byte 0x0f, 0x1f, 0x40, 0x00");
#else
  asm volatile("nop");
#endif
}

inline void idle_rounds(std::uint64_t rounds) {
  for (; rounds > 0; --rounds) {
#pragma GCC unroll 64
    for (int i = 0; i < idle_per_round; ++i) idle();
  }
}
}  // namespace

/// Detects a shared core by its issue rate.
///
/// Two threads that share a core get about half of its issue slots each, and a virtual machine does
/// not report that. A rate near the best one seen means that this thread had the core alone.
template <class Clock>
class CoreWitness {
 public:
  CoreWitness(Clock& clock, double overhead_s) : clock_(clock), overhead_s_(overhead_s) {}

  /// Whether the core issues nearly as much as it ever did, for cycles of `cycle_s`.
  bool is_alone(double cycle_s) {
    const double start_s = clock_.now_s();
    idle_rounds(rounds);
    const double spent_s = std::max(clock_.now_s() - start_s - overhead_s_, 1e-9);
    const double per_cycle = rounds * idle_per_round * cycle_s / spent_s;
    const bool is_alone = per_cycle > alone_share * best_per_cycle_;
    if (is_alone && per_cycle < per_cycle_max) learn(per_cycle);
    return is_alone;
  }

 private:
  /// Follows the rate up in steps and down slowly, since a single reading may be disturbed.
  void learn(double per_cycle) {
    if (best_per_cycle_ == 0) best_per_cycle_ = per_cycle;
    const double share = per_cycle > best_per_cycle_ ? 0.1 : 0.02;
    best_per_cycle_ += share * (per_cycle - best_per_cycle_);
  }

  static constexpr int rounds = 100;           // 0.3 µs on a core of its own
  static constexpr double per_cycle_max = 16;  // no core issues more: the reading was disturbed
  static constexpr double alone_share = 0.8;

  Clock& clock_;
  double overhead_s_;
  double best_per_cycle_ = 0;
};
}  // namespace nhalf
