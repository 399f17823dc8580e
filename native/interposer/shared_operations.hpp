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

inline void give(SharedMemory& memory, Number number, ConstBytes data) {
  std::memcpy(memory.room(number), data.data(), data.size());
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

inline void bcast(SharedMemory& memory, int root, Bytes data) {
  for_parts(data.size(), Slot::size_bytes, [&](std::size_t at, std::size_t size_bytes) {
    const auto part = data.subspan(at, size_bytes);
    const auto number = memory.begin();
    if (memory.rank() == root) {
      give(memory, number, part);
    } else {
      std::memcpy(part.data(), memory.taken(root, number), part.size());
    }
    memory.end(number);
  });
}

template <class Combine>
void allreduce(SharedMemory& memory, ConstBytes in, Bytes out, const Combine& combine) {
  const auto part = part_bytes(combine.element_bytes(), 1);
  for_parts(in.size(), part, [&](std::size_t at, std::size_t size_bytes) {
    const auto number = memory.begin();
    const auto own = in.subspan(at, size_bytes);
    give(memory, number, own);
    fold(memory, number, memory.size() - 1, 0, own, out.subspan(at, size_bytes), combine);
    memory.end_of_all(number);
  });
}

template <class Combine>
void reduce(SharedMemory& memory, int root, ConstBytes in, Bytes out, const Combine& combine) {
  const auto part = part_bytes(combine.element_bytes(), 1);
  for_parts(in.size(), part, [&](std::size_t at, std::size_t size_bytes) {
    const auto number = memory.begin();
    const auto own = in.subspan(at, size_bytes);
    // Nobody else wants the root's own term.
    if (memory.rank() != root || in.data() == out.data()) give(memory, number, own);
    if (memory.rank() == root)
      fold(memory, number, memory.size() - 1, 0, own, out.subspan(at, size_bytes), combine);
    memory.end(number);
  });
}

template <class Combine>
void scan(SharedMemory& memory, ConstBytes in, Bytes out, const Combine& combine) {
  const auto part = part_bytes(combine.element_bytes(), 1);
  for_parts(in.size(), part, [&](std::size_t at, std::size_t size_bytes) {
    const auto number = memory.begin();
    const auto own = in.subspan(at, size_bytes);
    give(memory, number, own);
    fold(memory, number, memory.rank(), 0, own, out.subspan(at, size_bytes), combine);
    memory.end(number);
  });
}

template <class Combine>
void reduce_scatter(SharedMemory& memory, ConstBytes in, Bytes out, const Combine& combine) {
  const auto part = part_bytes(combine.element_bytes(), memory.size());
  const auto rank = static_cast<std::size_t>(memory.rank());
  // In place the first block of `in` is `out`, and is overwritten part by part as it is given.
  for_parts(out.size(), part, [&](std::size_t at, std::size_t size_bytes) {
    const auto number = memory.begin();
    give_blocks(memory, number, in, at, size_bytes, true);
    fold(memory, number, memory.size() - 1, rank * size_bytes, {}, out.subspan(at, size_bytes),
         combine);
    memory.end_of_all(number);
  });
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

inline void allgather(SharedMemory& memory, ConstBytes in, Bytes out) {
  place(in, block_of(out, memory.rank(), in.size()));
  for_parts(in.size(), Slot::size_bytes, [&](std::size_t at, std::size_t size_bytes) {
    const auto number = memory.begin();
    give(memory, number, in.subspan(at, size_bytes));
    take_others(memory, number, 0, out, at, size_bytes);
    memory.end_of_all(number);
  });
}

inline void gather(SharedMemory& memory, int root, ConstBytes in, Bytes out) {
  const bool is_root = memory.rank() == root;
  for_parts(in.size(), Slot::size_bytes, [&](std::size_t at, std::size_t size_bytes) {
    const auto number = memory.begin();
    if (is_root) {
      place(in.subspan(at, size_bytes), block_of(out, root, in.size()).subspan(at, size_bytes));
      take_others(memory, number, 0, out, at, size_bytes);
    } else {
      give(memory, number, in.subspan(at, size_bytes));
    }
    memory.end(number);
  });
}

inline void alltoall(SharedMemory& memory, ConstBytes in, Bytes out) {
  const auto block_bytes = in.size() / static_cast<std::size_t>(memory.size());
  const auto own = static_cast<std::size_t>(memory.rank());
  place(block_of(in, memory.rank(), block_bytes), block_of(out, memory.rank(), block_bytes));
  for_parts(block_bytes, part_bytes(1, memory.size()), [&](std::size_t at, std::size_t size_bytes) {
    const auto number = memory.begin();
    give_blocks(memory, number, in, at, size_bytes, false);
    take_others(memory, number, own * size_bytes, out, at, size_bytes);
    memory.end_of_all(number);
  });
}

inline void scatter(SharedMemory& memory, int root, ConstBytes in, Bytes out) {
  const auto own = static_cast<std::size_t>(memory.rank());
  for_parts(out.size(), part_bytes(1, memory.size()), [&](std::size_t at, std::size_t size_bytes) {
    const auto number = memory.begin();
    if (memory.rank() == root) {
      give_blocks(memory, number, in, at, size_bytes, false);
      place(block_of(in, memory.rank(), out.size()).subspan(at, size_bytes),
            out.subspan(at, size_bytes));
    } else {
      std::memcpy(out.data() + at, memory.taken(root, number) + own * size_bytes, size_bytes);
    }
    memory.end(number);
  });
}

}  // namespace nhalf::coll::shared
