#pragma once

#include "patterns/bases/one_sided/accessing.hpp"

namespace nhalf {

inline constexpr PatternInfo rma_get_info{
    .name = "rma-get",
    .what = "rank 0 gets from a window of rank 1; time of an access with its gets",
    .needs = "windows",
    .axes = access_axes};

template <Windows T>
class RmaGet : public Accessing<T> {
 public:
  RmaGet(T& transport, const Case& point)
      : RmaGet(transport, point, accessed_pair(transport.rank(), point)) {}

  void run(std::uint64_t rounds) override {
    this->accesses(rounds, [this](int target) {
      this->transport_.get(this->window_, target, this->own_offset(), this->in(target));
    });
  }

  bool verify() override {
    const int rank = this->transport_.rank();
    for (const int origin : this->accessed_.origins)
      fill(this->here(origin), this->seed(rank, origin));
    for (const int target : this->accessed_.targets) fill(this->in(target), 1);
    this->access_once();
    bool good = true;
    for (const int target : this->accessed_.targets)
      good = good && holds(this->in(target), this->seed(target, rank));
    return good;
  }

 protected:
  RmaGet(T& transport, const Case& point, Accessed accessed)
      : Accessing<T>(transport, point, std::move(accessed)) {}
};

NHALF_PATTERN(rma_get_info, RmaGet);

}  // namespace nhalf
