// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// Operations that go on after the call that begins them, by their requests: what they have to send,
// and since when. A persistent operation keeps its place until it is freed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "fabric/picoseconds.hpp"
#include "preloaded/mpi.hpp"
#include "trace/handles.hpp"

namespace nhalf::fabric {

/// What leaves a rank at least.
struct Amount {
  std::uint64_t bytes = 0;
  std::uint64_t messages = 0;
};

struct Operation {
  const char* name = nullptr;
  Amount sent;
  /// The ranks of a collective operation that moves something here, else 0.
  int ranks = 0;
  bool is_persistent = false;
  bool is_active = false;
  Picoseconds begin = 0;
};

/// A small table: an operation that is pushed out of it is not checked.
class Operations {
 public:
  static Operations& of_process() {
    static constinit Operations operations;
    return operations;
  }
  void note(MPI_Request request, const Operation& operation) {
    auto& place = place_of(request);
    place = {trace::number_of(request), operation, true};
  }
  [[nodiscard]] Operation* find(MPI_Request request) {
    auto& place = place_of(request);
    return place.is_used && place.request == trace::number_of(request) ? &place.operation : nullptr;
  }
  void remove(MPI_Request request) {
    if (find(request) != nullptr) place_of(request).is_used = false;
  }

 private:
  struct Place {
    std::uint64_t request;
    Operation operation;
    bool is_used;
  };

  Place& place_of(MPI_Request request) {
    const auto mixed = trace::number_of(request) * 0x9E37'79B9'7F4A'7C15u;
    return places_[static_cast<std::size_t>(mixed >> 55)];
  }

  std::array<Place, 512> places_{};
};

}  // namespace nhalf::fabric
