// nhalf-needs: MPI
// Operations that go on after the call that begins them, by their requests: what they have to move,
// and what had passed the network before. A persistent operation keeps its place until it is freed.
#pragma once

#include <cstdint>

#include "fabric/guard/handle_table.hpp"
#include "fabric/interface.hpp"
#include "network/picoseconds.hpp"

namespace nhalf::fabric {

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
