// nhalf-needs: MPI
// What a call of MPI is to the network: for whom it waits, what it sends to others, what an
// operation of several ranks has to move here, and what it begins and completes.
#pragma once

#include "fabric/guard/guard.hpp"
#include "fabric/region.hpp"

namespace nhalf::fabric {
// From whom the latest requests receive, to name who waits for whom.

/// The other end of a message.
struct Partner {
  int rank;
  int tag;
  bool is_world;
};

/// A request that is pushed out is waited for without a name.
inline RequestTable<Partner, 10>& latest_receives() {
  static constinit RequestTable<Partner, 10> receives;
  return receives;
}
}  // namespace nhalf::fabric

namespace nhalf::fabric::roles {
/// Requests that a call is given.
struct Requests {
  int count = 0;
  const MPI_Request* first = nullptr;
};

/// Requests that a call completes: all of them, or those whose numbers it gives, unless a flag of
/// it is 0.
struct Completing {
  Requests requests{};
  const int* flag = nullptr;
  const int* number = nullptr;
  const int* places = nullptr;
};

/// Memory that a call accesses, or whose accesses it completes.
struct Reach {
  static constexpr int everyone = -1;

  MPI_Win window{};
  int target = everyone;
  bool is_completed = false;
};

/// Why a call cannot be served, and the kind of reason (src/nhalf/measure/virtual/start.py).
struct Refusal {
  const char* reason = nullptr;
  const char* kind = "unsupported";
};

struct Role {
  Partner partner{Doing::none, Doing::none, true};
  /// What leaves this rank for others at least, and what comes to it.
  Amount amount{};
  /// The ranks of an operation of all of them that has to move something here, else 0.
  int ranks = 0;
  /// The request that the call makes for a receive.
  MPI_Request* made = nullptr;
  /// The request that the call makes for an operation that is started later.
  MPI_Request* prepared = nullptr;
  /// Requests that the call starts, completes or frees.
  Requests started{};
  Completing completed{};
  Requests freed{};
  Reach reach{};
  bool has_reach = false;
  MPI_Win* window_freed = nullptr;
  Refusal refusal{};
};
}  // namespace nhalf::fabric::roles
