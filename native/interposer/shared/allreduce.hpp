#pragma once

#include "interposer/shared/parts.hpp"

namespace nhalf::coll::shared {

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

}  // namespace nhalf::coll::shared
