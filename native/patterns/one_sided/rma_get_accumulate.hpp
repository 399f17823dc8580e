#pragma once

#include "patterns/one_sided/rma_accumulate.hpp"

namespace nhalf {

inline constexpr PatternInfo rma_get_accumulate_info{
    .name = "rma-get-accumulate",
    .what =
        "rank 0 adds floats to those in a window of rank 1 and gets what was there before; time of "
        "an access",
    .needs = "windows",
    .axes = access_axes,
    .size_multiple = 4};

template <Windows T>
class RmaGetAccumulate : public RmaAccumulate<T> {
 public:
  RmaGetAccumulate(T& transport, const Case& point) : RmaAccumulate<T>(transport, point) {}

  void run(std::uint64_t rounds) override {
    this->accesses(rounds, [this](int target) {
      this->transport_.get_accumulate(this->window_, target, this->own_offset(), this->out(target),
                                      this->in(target));
    });
  }

  /// What comes back is checked where there is one operation: of more, the last may overtake.
  bool verify() override {
    const bool added = RmaAccumulate<T>::verify();
    bool good = true;
    for (const int target : this->accessed_.targets)
      good = good && (this->operations_ > 1 || this->holds_floats(this->in(target), 1));
    return added && good;
  }
};

NHALF_PATTERN(rma_get_accumulate_info, RmaGetAccumulate);

}  // namespace nhalf
