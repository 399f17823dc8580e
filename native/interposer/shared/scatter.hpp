#pragma once

#include <cstring>

#include "interposer/shared/parts.hpp"

namespace nhalf::coll::shared {

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
