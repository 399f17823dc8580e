// nhalf-needs: MPI
// Operations that go on after the call that begins them, by their requests: what they have to move,
// and what had passed the network before. A persistent operation keeps its place until it is freed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "calls/handle_number.hpp"
#include "fabric/interface.hpp"
#include "network/picoseconds.hpp"
#include "preloaded/mpi.hpp"

namespace nhalf::fabric {

// What is kept of requests or windows: a small table, from which a later one may push out an
// earlier one.

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

/// What leaves a rank for others at least, and what comes to it from them.
struct Amount {
  std::uint64_t bytes = 0;
  std::uint64_t messages = 0;
  std::uint64_t arriving_bytes = 0;

  Amount& operator+=(const Amount& further) {
    bytes += further.bytes;
    messages += further.messages;
    arriving_bytes += further.arriving_bytes;
    return *this;
  }
  [[nodiscard]] bool is_something() const { return messages > 0 || arriving_bytes > 0; }
};

/// What has passed the network at this rank by a time.
struct Passed {
  Picoseconds at = 0;
  Amount amount;

  static Passed of(const Interface& network) {
    return {network.now(),
            {network.sent_bytes(), network.sent_messages(), network.received_bytes()}};
  }
};

struct Operation {
  const char* name = nullptr;
  Amount amount;
  /// The ranks of a collective operation that moves something here, else 0.
  int ranks = 0;
  bool is_persistent = false;
  bool is_active = false;
  Passed before;
};

/// An operation that is pushed out is not checked.
inline RequestTable<Operation, 9>& begun_operations() {
  static constinit RequestTable<Operation, 9> operations;
  return operations;
}

}  // namespace nhalf::fabric
