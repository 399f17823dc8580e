#pragma once

#include "interposer/shared/parts.hpp"

namespace nhalf::coll::shared {

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

}  // namespace nhalf::coll::shared
