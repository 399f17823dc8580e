// Sums, and numbers that are changed in one step, in windows of MPI.
#pragma once

#include <cstdint>
#include <cstring>

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
      : Accessing<T>(transport, point, accessed_pair(transport.rank(), transport.size(), point)) {
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

/// Rank 0 changes a 64-bit number of rank 1's in one step: puts another one in its place, or adds
/// to it. A pattern's size has no meaning.
template <Windows T, bool swaps>
class RmaNumber : public Accessing<T> {
 public:
  RmaNumber(T& transport, const Case& point)
      : Accessing<T>(transport, point, accessed_pair(transport.rank(), transport.size(), point),
                     sizeof(std::int64_t)) {}

  [[nodiscard]] std::optional<std::uint64_t> moved_bytes() const override { return 0; }

  void run(std::uint64_t rounds) override {
    this->accesses(rounds, [this](int target) {
      if constexpr (swaps) {
        this->transport_.compare_and_swap(this->window_, target, this->own_offset(), first_, given_,
                                          before_);
      } else {
        this->transport_.fetch_and_add(this->window_, target, this->own_offset(), given_, before_);
      }
    });
  }

  /// `before_` is what the operation told of the number.
  bool verify() override {
    for (const int origin : this->accessed_.origins)
      std::memcpy(this->here(origin).data(), &first_, sizeof first_);
    before_ = -1;
    this->access_once();
    const auto expected = swaps ? given_ : first_ + this->operations_ * given_;
    bool good = true;
    for (const int origin : this->accessed_.origins)
      good = good && std::memcmp(this->here(origin).data(), &expected, sizeof expected) == 0;
    if (!this->accessed_.targets.empty() && this->operations_ == 1)
      good = good && before_ == first_;
    return good;
  }

 private:
  std::int64_t first_ = 7;
  std::int64_t given_ = swaps ? 11 : 3;
  std::int64_t before_ = 0;
};

inline constexpr PatternInfo rma_fetch_and_op_info{
    .name = "rma-fetch-and-op",
    .what = "rank 0 adds to a number in a window of rank 1 and gets what it was; time of an access",
    .needs = "windows",
    .axes = access_axes,
    .sized = false};
template <Windows T>
using RmaFetchAndOp = RmaNumber<T, false>;
NHALF_PATTERN(rma_fetch_and_op_info, RmaFetchAndOp);

inline constexpr PatternInfo rma_compare_and_swap_info{
    .name = "rma-compare-and-swap",
    .what =
        "rank 0 replaces a number in a window of rank 1 if it is what it should be, and gets what "
        "it was; time of an access",
    .needs = "windows",
    .axes = access_axes,
    .sized = false};
template <Windows T>
using RmaCompareAndSwap = RmaNumber<T, true>;
NHALF_PATTERN(rma_compare_and_swap_info, RmaCompareAndSwap);

}  // namespace nhalf
