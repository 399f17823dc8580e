// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// From whom the latest requests receive, to name who waits for whom.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "preloaded/mpi.hpp"
#include "trace/handles.hpp"

namespace nhalf::fabric {

/// The other end of a message.
struct Partner {
  int rank;
  int tag;
  bool is_world;
};

/// A small table: a request that is pushed out of it is waited for without a name.
class Receives {
 public:
  static Receives& of_process() {
    static constinit Receives receives;
    return receives;
  }
  void note(MPI_Request request, const Partner& partner) {
    auto& place = place_of(request);
    place.request = trace::number_of(request);
    place.partner = partner;
    place.is_used = true;
  }
  [[nodiscard]] const Partner* find(MPI_Request request) {
    const auto& place = place_of(request);
    return place.is_used && place.request == trace::number_of(request) ? &place.partner : nullptr;
  }

 private:
  struct Place {
    std::uint64_t request;
    Partner partner;
    bool is_used;
  };

  Place& place_of(MPI_Request request) {
    const auto mixed = trace::number_of(request) * 0x9E37'79B9'7F4A'7C15u;
    return places_[static_cast<std::size_t>(mixed >> 54)];
  }

  std::array<Place, 1024> places_{};
};

}  // namespace nhalf::fabric
