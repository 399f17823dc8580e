// Objects that are never destroyed: programs call MPI while static and thread-local objects are
// destroyed. The kernel reclaims the memory at the end of the process.
#pragma once

namespace nhalf::preloaded {

/// Returns the single object of a type, made at its first use.
template <class Type>
Type& lasting() {
  static auto* const object = new Type;
  return *object;
}

}  // namespace nhalf::preloaded
