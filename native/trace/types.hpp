// nhalf-needs: MPI
// Sizes of datatypes. Predefined types are cached, since they are never freed.
#pragma once

#include <array>
#include <cstdint>

#include "calls/library.hpp"
#include "preloaded/mpi.hpp"
#include "trace/error_handlers.hpp"
#include "trace/handles.hpp"

namespace nhalf::trace {

class TypeSizes {
 public:
  /// Returns the cached size; null if the library has to be queried.
  [[gnu::always_inline]] const std::uint64_t* find(MPI_Datatype type) const {
    const auto handle = number_of(type);
    const Entry& entry = entries_[place(handle)];
    return entry.handle == handle ? &entry.size_bytes : nullptr;
  }

  /// Queries the library about a valid type.
  [[gnu::noinline]] std::uint64_t asked(MPI_Datatype type) {
    const auto handle = number_of(type);
    int integers = 0;
    int addresses = 0;
    int types = 0;
    int combiner = MPI_COMBINER_CONTIGUOUS;
    MPI_Count size_bytes = 0;
    const int error = asked_quietly([&] { return NHALF_OWN(Type_size_x)(type, &size_bytes); });
    if (error != MPI_SUCCESS || size_bytes < 0) return 0;
    NHALF_OWN(Type_get_envelope)(type, &integers, &addresses, &types, &combiner);
    const auto size = static_cast<std::uint64_t>(size_bytes);
    if (combiner == MPI_COMBINER_NAMED) entries_[place(handle)] = {handle, size};
    return size;
  }

 private:
  struct Entry {
    std::uint64_t handle = ~std::uint64_t{0};
    std::uint64_t size_bytes = 0;
  };
  static constexpr unsigned places_log2 = 6;

  static std::size_t place(std::uint64_t handle) {
    return (handle * 0x9e3779b97f4a7c15U) >> (64U - places_log2);
  }

  std::array<Entry, 1U << places_log2> entries_{};
};

}  // namespace nhalf::trace
