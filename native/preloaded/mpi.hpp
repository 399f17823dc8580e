// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// MPI's header for a library that is loaded into programs of any MPI library, and of none: it
// refers to no data of one. Constants that are addresses in Open MPI are looked up instead.
#pragma once

#include <mpi.h>

#if defined(OPEN_MPI)

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "preloaded/chain.hpp"

namespace nhalf::preloaded {

/// The name of a variable, as a template's argument.
template <std::size_t length>
struct Name {
  char text[length]{};
  // NOLINTNEXTLINE(google-explicit-constructor): it stands for the literal.
  consteval Name(const char (&literal)[length]) { std::copy_n(literal, length, text); }
};

/// The address of a variable of the library.
template <Name name>
void* variable() {
  static constinit std::atomic<void*> known{nullptr};
  if (void* found = known.load(std::memory_order_relaxed)) [[likely]]
    return found;
  // A program may have a copy of its own, which its library goes by as well.
  void* found = dlsym(RTLD_DEFAULT, name.text);
  if (found == nullptr) found = loaded_late(name.text);
  known.store(found, std::memory_order_relaxed);
  return found;
}

}  // namespace nhalf::preloaded

#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global) \
  (static_cast<type>(::nhalf::preloaded::variable<#global>()))

#endif
