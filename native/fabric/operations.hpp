// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// Operations that go on after the call that begins them, by their requests: what they have to send,
// and since when. A persistent operation keeps its place until it is freed.
#pragma once

#include <cstdint>

#include "fabric/picoseconds.hpp"
#include "fabric/request_table.hpp"

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

/// An operation that is pushed out is not checked.
inline RequestTable<Operation, 9>& begun_operations() {
  static constinit RequestTable<Operation, 9> operations;
  return operations;
}

}  // namespace nhalf::fabric
