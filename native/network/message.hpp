// A message on its way, as far as the network is concerned.
#pragma once

#include "network/state.hpp"

namespace nhalf::network {
/// One of the ends that a rank has.
struct Address {
  std::uint32_t rank = 0;
  std::uint32_t endpoint = 0;

  bool operator==(const Address&) const = default;
};

/// Sums of shares of picoseconds.
using Work = unsigned __int128;

/// A message between two ranks on its way (network/flows.hpp).
struct Flow {
  /// When it may begin, and when it did.
  Picoseconds ready = 0;
  Picoseconds began = 0;
  /// What its bytes take alone, and what it takes besides.
  Picoseconds work = 0;
  Picoseconds latency = 0;
  /// What its bytes take more while others pass the other way at either end; 0: nobody minds.
  Picoseconds against = 0;
  /// Bytes per second that it moves alone where it shares something, its share of them since when,
  /// and what was left of its work then: both in parts of 2^-32.
  std::uint64_t demand_Bps = 0;
  std::uint64_t share = 0;
  Picoseconds updated = 0;
  Work work_left = 0;
  bool has_begun = false;
};

struct Message {
  Offset following = 0;
  /// When it would be there if nothing else came in.
  Picoseconds arrival = 0;
  /// How long it keeps the way out of its rank, and the way into the other, for itself.
  Picoseconds busy_out = 0;
  Picoseconds busy_in = 0;
  std::uint64_t size_bytes = 0;
  Address source;
  std::uint32_t target = 0;
  Flow flow;
};
}  // namespace nhalf::network
