// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// The calls behind this library's. Nothing of an MPI library is linked: this library is loaded into
// launchers and shells, too, and before an MPI library that may come late.
#pragma once

#include <atomic>

#include "preloaded/chain.hpp"
#include "preloaded/library.hpp"
#include "preloaded/mpi.hpp"
#include "trace/names.hpp"

namespace nhalf::trace {

/// The same call, of another tool or of the library.
template <auto call, class Function>
[[gnu::always_inline]] inline Function* next(const char* name) {
  static constinit std::atomic<Function*> known{nullptr};
  if (Function* found = known.load(std::memory_order_relaxed)) [[likely]]
    return found;
  auto* found = reinterpret_cast<Function*>(preloaded::behind(name));
  known.store(found, std::memory_order_relaxed);
  return found;
}

/// A call of the library for this one's own needs; `Tag` tells calls of one type apart.
template <class Tag, class Function>
Function* own(const char* name) {
  static auto* const found = reinterpret_cast<Function*>(preloaded::in_mpi(name));
  return found;
}

#define NHALF_OWN(name) \
  (::nhalf::trace::own<struct Tag##name, decltype(PMPI_##name)>("PMPI_" #name))

/// Open MPI 5 has them, though it does not claim to be of MPI 4.
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define NHALF_HAS_SESSIONS 1
#else
#define NHALF_HAS_SESSIONS 0
#endif

}  // namespace nhalf::trace
