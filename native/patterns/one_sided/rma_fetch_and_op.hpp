#pragma once

#include "patterns/bases/one_sided/accessed_number.hpp"

namespace nhalf {

inline constexpr PatternInfo rma_fetch_and_op_info{
    .name = "rma-fetch-and-op",
    .what = "rank 0 adds to a number in a window of rank 1 and gets what it was; time of an access",
    .needs = "windows",
    .axes = access_axes,
    .sized = false};

template <Windows T>
class RmaFetchAndOp : public AccessedNumber<T> {
 public:
  RmaFetchAndOp(T& transport, const Case& point) : AccessedNumber<T>(transport, point) {}

  void run(std::uint64_t rounds) override {
    this->accesses(rounds, [this](int target) {
      this->transport_.fetch_and_add(this->window_, target, this->own_offset(), term_,
                                     this->before_);
    });
  }

 protected:
  [[nodiscard]] std::int64_t expected(int operations) const override {
    return this->first + operations * term_;
  }

 private:
  std::int64_t term_ = 3;
};

NHALF_PATTERN(rma_fetch_and_op_info, RmaFetchAndOp);

}  // namespace nhalf
