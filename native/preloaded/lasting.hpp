// SPDX-License-Identifier: Apache-2.0
// Objects that are never destroyed: programs call MPI while their static objects end, and after
// that of their threads. What the process has at its end the kernel takes back.
#pragma once

namespace nhalf::preloaded {

/// Returns the one object of a type, made at its first use.
template <class Type>
Type& lasting() {
  static auto* const object = new Type;
  return *object;
}

}  // namespace nhalf::preloaded
