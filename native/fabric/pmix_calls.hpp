// SPDX-License-Identifier: Apache-2.0
// Calls by which Open MPI asks its launcher. It hears of no rank that shares its host, since it
// would reach the memory of that past the network; and it may not wait for other ranks there, since
// one rank runs at a time.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <string_view>

#include "fabric/rank.hpp"
#include "preloaded/chain.hpp"

namespace nhalf::fabric {

/// PMIx's number for what it does not know.
inline constexpr int not_found = -46;

inline bool tells_of_host(const char* key) {
  return key != nullptr && std::string_view(key) == "pmix.lpeers";
}

/// PMIx may have been loaded with local scope, as a part of the MPI library.
inline void* pmix_call(const char* name) {
  if (void* const call = nhalf::preloaded::behind(name); call != nullptr) return call;
  void* const library = dlopen("libpmix.so.2", RTLD_LAZY | RTLD_NOLOAD);
  return library == nullptr ? nullptr : dlsym(library, name);
}

}  // namespace nhalf::fabric

NHALF_EXPORTED int PMIx_Get(const void* process, const char* key, const void* directives,
                            std::size_t number, void** value) {
  using namespace nhalf::fabric;
  static auto* const then = reinterpret_cast<decltype(&PMIx_Get)>(pmix_call("PMIx_Get"));
  if (then == nullptr || (tells_of_host(key) && Rank::here().open())) return not_found;
  return then(process, key, directives, number, value);
}

NHALF_EXPORTED int PMIx_Group_construct(const char* name, const void* processes, std::size_t number,
                                        const void* directives, std::size_t directive_number,
                                        void** results, std::size_t* result_number) {
  using namespace nhalf::fabric;
  if (Rank::here().is_running())
    Rank::here().stop("unsupported", "MPI_Comm_create_from_group of Open MPI is not supported");
  static auto* const then =
      reinterpret_cast<decltype(&PMIx_Group_construct)>(pmix_call("PMIx_Group_construct"));
  if (then == nullptr) return not_found;
  return then(name, processes, number, directives, directive_number, results, result_number);
}
