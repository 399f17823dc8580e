#pragma once

#include "interposer/shared/parts.hpp"

namespace nhalf::coll::shared {

template <class Combine>
void reduce(SharedMemory& memory, int root, ConstBytes in, Bytes out, const Combine& combine) {
  const auto part = part_bytes(combine.element_bytes(), 1);
  for_parts(in.size(), part, [&](std::size_t at, std::size_t size_bytes) {
    const auto number = memory.begin();
    const auto own = in.subspan(at, size_bytes);
    // No other rank needs the root's own term.
    if (memory.rank() != root || in.data() == out.data()) give(memory, number, own);
    if (memory.rank() == root)
      fold(memory, number, memory.size() - 1, 0, own, out.subspan(at, size_bytes), combine);
    memory.end(number);
  });
}

}  // namespace nhalf::coll::shared
