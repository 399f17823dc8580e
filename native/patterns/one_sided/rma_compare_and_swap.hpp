#pragma once

#include "patterns/bases/one_sided/accessed_number.hpp"

namespace nhalf {

inline constexpr PatternInfo rma_compare_and_swap_info{
    .name = "rma-compare-and-swap",
    .what =
        "rank 0 replaces a number in a window of rank 1 if it is what it should be, and gets what "
        "it was; time of an access",
    .needs = "windows",
    .axes = access_axes,
    .sized = false};

template <Windows T>
class RmaCompareAndSwap : public AccessedNumber<T> {
 public:
  RmaCompareAndSwap(T& transport, const Case& point) : AccessedNumber<T>(transport, point) {}

  void run(std::uint64_t rounds) override {
    this->accesses(rounds, [this](int target) {
      this->transport_.compare_and_swap(this->window_, target, this->own_offset(), expected_,
                                        desired_, this->before_);
    });
  }

 protected:
  [[nodiscard]] std::int64_t expected(int) const override { return desired_; }

 private:
  std::int64_t expected_ = AccessedNumber<T>::first;
  std::int64_t desired_ = 11;
};

NHALF_PATTERN(rma_compare_and_swap_info, RmaCompareAndSwap);

}  // namespace nhalf
