#pragma once

#include "patterns/bases/one_sided/region_pair.hpp"

namespace nhalf {

inline constexpr PatternInfo single_get{
    .name = "get",
    .what = "rank 0 gets from rank 1, where nothing changes meanwhile; time of one get",
    .needs = "one-sided"};

template <OneSided T>
class Get : public RegionPair<T> {
 public:
  Get(T& transport, const Case& point) : RegionPair<T>(transport, point) {
    this->blank(this->seed_of(transport.rank()));
  }

  void run(std::uint64_t rounds) override {
    if (!this->leads()) return;
    for (auto i = rounds; i > 0; --i)
      this->transport_.get(this->region_, this->peer(), 0, this->in());
  }

  bool verify() override {
    run(1);
    return !this->leads() || nhalf::holds(this->in(), this->seed_of(1));
  }
};

NHALF_PATTERN(single_get, Get);

}  // namespace nhalf
