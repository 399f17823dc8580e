// SPDX-License-Identifier: Apache-2.0
// Collective operations through shared memory, with the arguments that algorithms on messages have
// (contract/collectives.hpp): every rank gives, then takes what it needs. Data that a slot does not
// hold goes in parts. Terms of reductions are combined from the last rank down to the first,
// `combine(from, to)` making `to` of `from` before `to`: every rank gets the same bits, and
// operations need not commute.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "contract/blocks.hpp"
#include "interposer/shared_memory.hpp"

namespace nhalf::coll::shared {

/// The largest part of whole elements of each of so many blocks that a slot holds; 0 where none is.
constexpr std::size_t part_bytes(std::size_t element_bytes, int blocks) {
  const auto room_bytes = Slot::size_bytes / static_cast<std::size_t>(blocks);
  return element_bytes == 0 ? 0 : room_bytes / element_bytes * element_bytes;
}

/// Calls `action(at, size)` with one part after the other of so many bytes.
template <class Action>
void for_parts(std::size_t size_bytes, std::size_t part, Action action) {
  for (std::size_t at = 0; at < size_bytes; at += part) action(at, std::min(part, size_bytes - at));
}

/// What lies beside the number comes last: a rank that looks for the number takes that line along,
/// and would take it in between.
inline void give(SharedMemory& memory, Number number, ConstBytes data) {
  auto* room = memory.room(number);
  const auto beside = std::min(data.size(), Slot::beside_number_bytes);
  std::memcpy(room + beside, data.data() + beside, data.size() - beside);
  if (beside < Slot::beside_number_bytes) {
    std::memcpy(room, data.data(), beside);
  } else {
    std::memcpy(room, data.data(), Slot::beside_number_bytes);
  }
  memory.give(number);
}

/// Gives a part of each of the blocks, one for every rank; this rank's own only where it needs it.
inline void give_blocks(SharedMemory& memory, Number number, ConstBytes blocks, std::size_t at,
                        std::size_t size_bytes, bool with_own) {
  const auto ranks = static_cast<std::size_t>(memory.size());
  const auto own = static_cast<std::size_t>(memory.rank());
  const auto block_bytes = blocks.size() / ranks;
  auto* room = memory.room(number);
  for (std::size_t i = 0; i < ranks; ++i)
    if (with_own || i != own)
      std::memcpy(room + i * size_bytes, blocks.data() + i * block_bytes + at, size_bytes);
  memory.give(number);
}

/// The terms of ranks 0 to `last`, each at `offset` of what its rank gave, combined in `to`. This
/// rank's own is taken from `own`, unless that is empty or where the result goes.
template <class Combine>
void fold(SharedMemory& memory, Number number, int last, std::size_t offset, ConstBytes own,
          Bytes to, const Combine& combine) {
  const bool is_apart = !own.empty() && own.data() != to.data();
  const auto term = [&](int rank) {
    if (is_apart && rank == memory.rank()) return own.data();
    return memory.taken(rank, number) + offset;
  };
  std::memcpy(to.data(), term(last), to.size());
  for (int rank = last - 1; rank >= 0; --rank) combine(ConstBytes(term(rank), to.size()), to);
}

/// The parts that all other ranks gave, into one block for each.
inline void take_others(SharedMemory& memory, Number number, std::size_t offset, Bytes out,
                        std::size_t at, std::size_t size_bytes) {
  const auto ranks = memory.size();
  const auto block_bytes = out.size() / static_cast<std::size_t>(ranks);
  for (int i = 0; i < ranks; ++i) {
    if (i == memory.rank()) continue;
    const auto to = block_of(out, i, block_bytes).subspan(at, size_bytes);
    std::memcpy(to.data(), memory.taken(i, number) + offset, size_bytes);
  }
}

}  // namespace nhalf::coll::shared
