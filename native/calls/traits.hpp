// What a call of MPI does to other ranks. Every row of the table says it in these words.
#pragma once

#include "contract/vocabulary.hpp"

namespace nhalf::calls {
template <class Handle>
std::uint64_t number_of(Handle handle) {
  if constexpr (sizeof(Handle) == sizeof(std::uint64_t))
    return std::bit_cast<std::uint64_t>(handle);
  else
    return std::bit_cast<std::uint32_t>(handle);
}

/// Whether a call may wait for another rank, and what it does to memory of others.
enum class Effect : std::uint8_t {
  waits,
  returns,
  /// Returns; its data only leaves this rank: an operation there may change nothing (MPI_NO_OP).
  leaves,
  /// Waits until accesses have ended on the other side.
  completes,
};

/// Between whom a collective operation moves data.
enum class Flow : std::uint8_t {
  none,
  from_root,
  to_root,
  among_all,
  /// From each rank to all that come after it.
  up_to_each,
  among_neighbours,
};

/// What a rank puts into an operation, or gets if it puts in nothing.
enum class Data : std::uint8_t {
  nothing,
  /// Data that all get as it is, or its sum with that of others.
  vector,
  sum,
  /// A block of each rank, or one for each; `summed_blocks` are summed on their way.
  block,
  blocks,
  summed_blocks,
};

/// Whether all blocks have one size or a size each.
enum class Sizes : std::uint8_t { equal, varying };

struct Operation {
  Flow flow = Flow::none;
  Data data = Data::nothing;
  Sizes sizes = Sizes::equal;
};

struct Traits {
  Effect effect;
  Operation operation{};

  explicit(false) constexpr Traits(Effect the_effect, Operation moves = {})
      : effect(the_effect), operation(moves) {}
};

/// All ranks of a communicator have to make the call.
inline constexpr Traits agrees{Effect::waits, {Flow::among_all, Data::nothing}};
}  // namespace nhalf::calls
