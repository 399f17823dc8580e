#pragma once

#include "interposer/shared/parts.hpp"

namespace nhalf::coll::shared {

inline void allgather(SharedMemory& memory, ConstBytes in, Bytes out) {
  place(in, block_of(out, memory.rank(), in.size()));
  for_parts(in.size(), Slot::size_bytes, [&](std::size_t at, std::size_t size_bytes) {
    const auto number = memory.begin();
    give(memory, number, in.subspan(at, size_bytes));
    take_others(memory, number, 0, out, at, size_bytes);
    memory.end_of_all(number);
  });
}

}  // namespace nhalf::coll::shared
