#pragma once

#include "interposer/shared/parts.hpp"

namespace nhalf::coll::shared {

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

}  // namespace nhalf::coll::shared
