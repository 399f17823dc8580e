// Puts and gets in windows of MPI, between two ranks and between many.
#pragma once

#include "patterns/bases/one_sided/accessing.hpp"

namespace nhalf {

template <Windows T, AccessedBy accessed = accessed_pair>
class RmaPut : public Accessing<T> {
 public:
  RmaPut(T& transport, const Case& point)
      : Accessing<T>(transport, point, accessed(transport.rank(), transport.size(), point)) {}

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
};

inline constexpr PatternInfo rma_put_info{
    .name = "rma-put",
    .what = "rank 0 puts into a window of rank 1; time of an access with its puts",
    .needs = "windows",
    .axes = access_axes};
NHALF_PATTERN(rma_put_info, RmaPut);

inline constexpr PatternInfo rma_put_all_info{
    .name = "rma-put-all",
    .what = "many ranks put at once in each other's windows; time of an access of the slowest",
    .needs = "windows",
    .timing = Timing::slowest_rank,
    .axes = group_access_axes};
template <Windows T>
using RmaPutAll = RmaPut<T, accessed_group>;
NHALF_PATTERN(rma_put_all_info, RmaPutAll);

template <Windows T, AccessedBy accessed = accessed_pair>
class RmaGet : public Accessing<T> {
 public:
  RmaGet(T& transport, const Case& point)
      : Accessing<T>(transport, point, accessed(transport.rank(), transport.size(), point)) {}

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
};

inline constexpr PatternInfo rma_get_info{
    .name = "rma-get",
    .what = "rank 0 gets from a window of rank 1; time of an access with its gets",
    .needs = "windows",
    .axes = access_axes};
NHALF_PATTERN(rma_get_info, RmaGet);

inline constexpr PatternInfo rma_get_all_info{
    .name = "rma-get-all",
    .what = "many ranks get at once in each other's windows; time of an access of the slowest",
    .needs = "windows",
    .timing = Timing::slowest_rank,
    .axes = group_access_axes};
template <Windows T>
using RmaGetAll = RmaGet<T, accessed_group>;
NHALF_PATTERN(rma_get_all_info, RmaGetAll);

}  // namespace nhalf
