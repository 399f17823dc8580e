#pragma once

#include "patterns/one_sided/rma_get.hpp"

namespace nhalf {

inline constexpr PatternInfo rma_get_all_info{
    .name = "rma-get-all",
    .what = "many ranks get at once in each other's windows; time of an access of the slowest",
    .needs = "windows",
    .timing = Timing::slowest_rank,
    .axes = group_access_axes};

template <Windows T>
class RmaGetAll : public RmaGet<T> {
 public:
  RmaGetAll(T& transport, const Case& point)
      : RmaGet<T>(transport, point, accessed_group(transport.rank(), transport.size(), point)) {}
};

NHALF_PATTERN(rma_get_all_info, RmaGetAll);

}  // namespace nhalf
