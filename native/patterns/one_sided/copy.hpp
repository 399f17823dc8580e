#pragma once

#include <cstring>

#include "patterns/bases/one_sided/region_pair.hpp"

namespace nhalf {

inline constexpr PatternInfo plain_copy{
    .name = "copy",
    .what = "rank 0 copies into its own exposed memory by memcpy: what a put is compared with",
    .needs = "one-sided"};

template <OneSided T>
class Copy : public RegionPair<T> {
 public:
  Copy(T& transport, const Case& point) : RegionPair<T>(transport, point) {}

  void run(std::uint64_t rounds) override {
    if (!this->leads() || this->out().empty()) return;
    for (auto i = rounds; i > 0; --i) {
      std::memcpy(this->here().data(), this->out().data(), this->out().size());
      // Each copy is made: somebody might read it.
      asm volatile("" ::"r"(this->here().data()) : "memory");
    }
  }

  bool verify() override {
    run(1);
    return !this->leads() || nhalf::holds(this->here(), this->seed_of(0));
  }
};

NHALF_PATTERN(plain_copy, Copy);

}  // namespace nhalf
