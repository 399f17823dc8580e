#pragma once

#include "timing/interruptions.hpp"

namespace nhalf {
inline constexpr PatternInfo interruptions{
    .name = "interruptions",
    .what = "every rank reads its clock 1000 times without pause; when rank 0 was kept from that",
    .needs = "computing",
    .ranks_min = 1,
    .timing = Timing::slowest_rank,
    .sized = false};

/// Fixed work: what is longer than usual in it was somebody else's. All ranks do it at once, so
/// that their cores are as busy as in a program.
template <Computing T>
class Interrupted : public Pattern {
 public:
  static constexpr std::uint64_t readings_per_round = 1000;

  Interrupted(T& transport, const Case&) : watch_(transport) {
    if (has_virtual_clock(transport)) throw InputError("nothing interrupts ranks in virtual time");
  }

  void run(std::uint64_t rounds) override { watch_.watch(rounds * readings_per_round); }
  bool verify() override { return true; }
  [[nodiscard]] bool checks_messages() const override { return false; }
  void prepare() override { watch_.reset(); }
  std::vector<Value> values() override { return watch_.values(); }

 private:
  Interruptions<T> watch_;
};
NHALF_PATTERN(interruptions, Interrupted);
}  // namespace nhalf
