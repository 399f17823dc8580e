#pragma once

#include "patterns/bases/one_sided/region_pair.hpp"

namespace nhalf {

inline constexpr PatternInfo put_stream{
    .name = "put-stream",
    .what = "rank 0 puts again and again and completes all puts once at the end of a batch",
    .needs = "one-sided"};

template <OneSided T>
class PutStream : public RegionPair<T> {
 public:
  PutStream(T& transport, const Case& point) : RegionPair<T>(transport, point) {}

  void run(std::uint64_t rounds) override {
    if (!this->leads()) return;
    for (auto i = rounds; i > 0; --i)
      this->transport_.put(this->region_, this->peer(), 0, this->out());
    this->transport_.complete(this->region_, this->peer());
  }

  bool verify() override { return this->put_arrives(); }
};

NHALF_PATTERN(put_stream, PutStream);

}  // namespace nhalf
