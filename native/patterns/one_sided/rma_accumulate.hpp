#pragma once

#include "patterns/bases/one_sided/accessing.hpp"

namespace nhalf {

inline constexpr PatternInfo rma_accumulate_info{
    .name = "rma-accumulate",
    .what = "rank 0 adds floats to those in a window of rank 1; time of an access",
    .needs = "windows",
    .axes = access_axes,
    .size_multiple = 4};

template <Windows T>
class RmaAccumulate : public Accessing<T> {
 public:
  RmaAccumulate(T& transport, const Case& point)
      : Accessing<T>(transport, point, accessed_pair(transport.rank(), point)) {
    if (point.size_bytes % sizeof(float) != 0)
      throw InputError("sums are of floats: give a multiple of 4 bytes");
  }

  void run(std::uint64_t rounds) override {
    this->accesses(rounds, [this](int target) {
      this->transport_.accumulate(this->window_, target, this->own_offset(), this->out(target));
    });
  }

  bool verify() override {
    const int rank = this->transport_.rank();
    const auto times = static_cast<float>(this->operations_);
    for (const int target : this->accessed_.targets)
      this->fill_floats(this->out(target), this->term(rank, target));
    for (const int origin : this->accessed_.origins) this->fill_floats(this->here(origin), 1);
    this->access_once();
    bool good = true;
    for (const int origin : this->accessed_.origins)
      good = good && this->holds_floats(this->here(origin), 1 + times * this->term(origin, rank));
    return good;
  }
};

NHALF_PATTERN(rma_accumulate_info, RmaAccumulate);

}  // namespace nhalf
