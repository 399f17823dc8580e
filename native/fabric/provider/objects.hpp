// What all objects of libfabric have in common: a table of calls, most of which are not needed.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

#include <cstddef>
#include <cstdint>

namespace nhalf::fabric::provider {

/// Stands for any call that the network does not have.
inline constexpr struct Lacking {
  template <class Result, class... Arguments>
  using Call = Result (*)(Arguments...);
  template <class Result, class... Arguments>
  constexpr operator Call<Result, Arguments...>() const {
    return [](Arguments...) { return static_cast<Result>(-FI_ENOSYS); };
  }
} lacking;

inline int nothing_to_bind(fid*, fid*, std::uint64_t) {
  return 0;
}
inline int nothing_to_control(fid*, int, void*) {
  return 0;
}
inline int no_operations(fid*, const char*, std::uint64_t, void**, void*) {
  return -FI_ENOSYS;
}

/// Closes an object whose first member is libfabric's part of it.
template <class Object>
int close_object(fid* file) {
  delete reinterpret_cast<Object*>(file);
  return 0;
}

template <class Object>
fi_ops* operations() {
  static fi_ops table{sizeof(fi_ops),  close_object<Object>,
                      nothing_to_bind, nothing_to_control,
                      no_operations,   nullptr,
                      nullptr};
  return &table;
}

inline void describe(fid& file, std::size_t kind, void* context, fi_ops* table) {
  file.fclass = kind;
  file.context = context;
  file.ops = table;
}

}  // namespace nhalf::fabric::provider
