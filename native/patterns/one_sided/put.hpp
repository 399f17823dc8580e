#pragma once

#include "patterns/bases/one_sided/region_pair.hpp"

namespace nhalf {

inline constexpr PatternInfo single_put{
    .name = "put",
    .what = "rank 0 puts and completes each put; what rank 1 notices of it is not in the time",
    .needs = "one-sided"};

template <OneSided T>
class Put : public RegionPair<T> {
 public:
  Put(T& transport, const Case& point) : RegionPair<T>(transport, point) {}

  void run(std::uint64_t rounds) override {
    if (!this->leads()) return;
    for (auto i = rounds; i > 0; --i) {
      this->transport_.put(this->region_, this->peer(), 0, this->out());
      this->transport_.complete(this->region_, this->peer());
    }
  }

  bool verify() override { return this->put_arrives(); }
};

NHALF_PATTERN(single_put, Put);

}  // namespace nhalf
