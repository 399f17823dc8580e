// nhalf-needs: MPI
// What is kept of requests or windows: a small table, from which a later one may push out an
// earlier one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "calls/handle_number.hpp"
#include "preloaded/mpi.hpp"

namespace nhalf::fabric {

template <class Handle, class Value, unsigned index_bits>
class HandleTable {
 public:
  void note(Handle handle, const Value& value) {
    place_of(handle) = {calls::number_of(handle), value, true};
  }
  /// Returns what was noted; null if nothing was, or it was pushed out.
  [[nodiscard]] Value* find(Handle handle) {
    auto& place = place_of(handle);
    return place.is_used && place.handle == calls::number_of(handle) ? &place.value : nullptr;
  }
  void remove(Handle handle) {
    if (find(handle) != nullptr) place_of(handle).is_used = false;
  }

 private:
  struct Place {
    std::uint64_t handle;
    Value value;
    bool is_used;
  };

  Place& place_of(Handle handle) {
    const auto mixed = calls::number_of(handle) * 0x9E37'79B9'7F4A'7C15u;
    return places_[static_cast<std::size_t>(mixed >> (64 - index_bits))];
  }

  std::array<Place, std::size_t{1} << index_bits> places_{};
};

template <class Value, unsigned index_bits>
using RequestTable = HandleTable<MPI_Request, Value, index_bits>;

}  // namespace nhalf::fabric
