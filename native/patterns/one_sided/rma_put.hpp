#pragma once

#include "patterns/bases/one_sided/accessing.hpp"

namespace nhalf {

inline constexpr PatternInfo rma_put_info{
    .name = "rma-put",
    .what = "rank 0 puts into a window of rank 1; time of an access with its puts",
    .needs = "windows",
    .axes = access_axes};

template <Windows T>
class RmaPut : public Accessing<T> {
 public:
  RmaPut(T& transport, const Case& point)
      : RmaPut(transport, point, accessed_pair(transport.rank(), point)) {}

  void run(std::uint64_t rounds) override {
    this->accesses(rounds, [this](int target) {
      this->transport_.put(this->window_, target, this->own_offset(), this->out(target));
    });
  }

  bool verify() override {
    const int rank = this->transport_.rank();
    for (const int target : this->accessed_.targets)
      fill(this->out(target), this->seed(rank, target));
    for (const int origin : this->accessed_.origins) fill(this->here(origin), 1);
    this->access_once();
    bool good = true;
    for (const int origin : this->accessed_.origins)
      good = good && holds(this->here(origin), this->seed(origin, rank));
    return good;
  }

 protected:
  RmaPut(T& transport, const Case& point, Accessed accessed)
      : Accessing<T>(transport, point, std::move(accessed)) {}
};

NHALF_PATTERN(rma_put_info, RmaPut);

}  // namespace nhalf
