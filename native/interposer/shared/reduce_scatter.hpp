#pragma once

#include "interposer/shared/parts.hpp"

namespace nhalf::coll::shared {

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

}  // namespace nhalf::coll::shared
