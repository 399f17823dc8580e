#pragma once

#include <cstring>

#include "interposer/shared/parts.hpp"

namespace nhalf::coll::shared {

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

}  // namespace nhalf::coll::shared
