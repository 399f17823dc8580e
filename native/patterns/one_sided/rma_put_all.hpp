#pragma once

#include "patterns/one_sided/rma_put.hpp"

namespace nhalf {

inline constexpr PatternInfo rma_put_all_info{
    .name = "rma-put-all",
    .what = "many ranks put at once in each other's windows; time of an access of the slowest",
    .needs = "windows",
    .timing = Timing::slowest_rank,
    .axes = group_access_axes};

template <Windows T>
class RmaPutAll : public RmaPut<T> {
 public:
  RmaPutAll(T& transport, const Case& point)
      : RmaPut<T>(transport, point, accessed_group(transport.rank(), transport.size(), point)) {}
};

NHALF_PATTERN(rma_put_all_info, RmaPutAll);

}  // namespace nhalf
