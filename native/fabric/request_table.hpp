// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// What is kept of requests: a small table, from which a later one may push out an earlier one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "preloaded/mpi.hpp"
#include "trace/handles.hpp"

namespace nhalf::fabric {

template <class Value, unsigned index_bits>
class RequestTable {
 public:
  void note(MPI_Request request, const Value& value) {
    place_of(request) = {trace::number_of(request), value, true};
  }
  /// Returns what was noted; null if nothing was, or it was pushed out.
  [[nodiscard]] Value* find(MPI_Request request) {
    auto& place = place_of(request);
    return place.is_used && place.request == trace::number_of(request) ? &place.value : nullptr;
  }
  void remove(MPI_Request request) {
    if (find(request) != nullptr) place_of(request).is_used = false;
  }

 private:
  struct Place {
    std::uint64_t request;
    Value value;
    bool is_used;
  };

  Place& place_of(MPI_Request request) {
    const auto mixed = trace::number_of(request) * 0x9E37'79B9'7F4A'7C15u;
    return places_[static_cast<std::size_t>(mixed >> (64 - index_bits))];
  }

  std::array<Place, std::size_t{1} << index_bits> places_{};
};

}  // namespace nhalf::fabric
