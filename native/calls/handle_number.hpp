// Handles of MPI as numbers: they are integers in some libraries and addresses in others.
#pragma once

#include <bit>
#include <cstdint>

namespace nhalf::calls {

template <class Handle>
std::uint64_t number_of(Handle handle) {
  if constexpr (sizeof(Handle) == sizeof(std::uint64_t))
    return std::bit_cast<std::uint64_t>(handle);
  else
    return std::bit_cast<std::uint32_t>(handle);
}

}  // namespace nhalf::calls
