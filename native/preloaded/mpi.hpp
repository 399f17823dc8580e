// nhalf-needs: MPI
// MPI's header for a library that is loaded into programs of any MPI library, or without one: it
// refers to no data of a library. Constants that are addresses in Open MPI are looked up instead.
#pragma once

#include <mpi.h>

#include "contract/vocabulary.hpp"

#if defined(OPEN_MPI)

#include <dlfcn.h>

#include <atomic>

#include "preloaded/chain.hpp"

namespace nhalf::preloaded {

/// The name of a variable as a template argument.
template <std::size_t length>
struct Name {
  char text[length]{};
  // NOLINTNEXTLINE(google-explicit-constructor): it stands for the literal.
  consteval Name(const char (&literal)[length]) { std::copy_n(literal, length, text); }
};

/// Returns the address of a variable of the library.
template <Name name>
void* variable() {
  static constinit std::atomic<void*> cached{nullptr};
  if (void* address = cached.load(std::memory_order_relaxed)) [[likely]]
    return address;
  // A program may have a copy relocation, which the library uses as well.
  void* address = dlsym(RTLD_DEFAULT, name.text);
  if (address == nullptr) address = loaded_late(name.text);
  cached.store(address, std::memory_order_relaxed);
  return address;
}

}  // namespace nhalf::preloaded

#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global) \
  (static_cast<type>(::nhalf::preloaded::variable<#global>()))

#endif
