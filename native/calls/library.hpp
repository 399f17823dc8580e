// nhalf-needs: MPI
// Finds the MPI library's own calls. No MPI library is linked, since this library is also loaded
// into launchers and shells, and before an MPI library that may be loaded late.
#pragma once

#include <atomic>

#include "calls/names.hpp"
#include "preloaded/chain.hpp"
#include "preloaded/library.hpp"
#include "preloaded/mpi.hpp"

namespace nhalf::calls {

/// Returns the same call of the next tool or of the library.
template <auto call, class Function>
[[gnu::always_inline]] inline Function* next(const char* name) {
  static constinit std::atomic<Function*> cached{nullptr};
  if (Function* function = cached.load(std::memory_order_relaxed)) [[likely]]
    return function;
  auto* function = reinterpret_cast<Function*>(preloaded::behind(name));
  cached.store(function, std::memory_order_relaxed);
  return function;
}

/// Returns a call of the library for our own use; `Tag` distinguishes calls of one type.
template <class Tag, class Function>
Function* own(const char* name) {
  static auto* const function = reinterpret_cast<Function*>(preloaded::in_mpi(name));
  return function;
}

#define NHALF_OWN(name) \
  (::nhalf::calls::own<struct Tag##name, decltype(PMPI_##name)>("PMPI_" #name))

}  // namespace nhalf::calls
