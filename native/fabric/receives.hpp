// nhalf-needs: MPI
// From whom the latest requests receive, to name who waits for whom.
#pragma once

#include "fabric/guard/handle_table.hpp"

namespace nhalf::fabric {

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
