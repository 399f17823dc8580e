// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// Reports, once from the first rank, that no preloaded library serves the MPI library of a process.
#pragma once

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "preloaded/chain.hpp"
#include "preloaded/library.hpp"

namespace nhalf::preloaded {

/// Whether a launcher's variables name a rank other than the first.
inline bool is_later_rank() {
  for (const auto* name : {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"})
    if (const char* rank = std::getenv(name); rank != nullptr && std::string_view(rank) != "0")
      return true;
  return false;
}

/// Whether another preloaded library serves the same purpose here, or will report that none does.
inline bool is_left_to_another(const Interface& own) {
  struct Search {
    const Interface* own;
    bool is_before_own = true;
    bool is_found = false;
  } search{&own};
  dl_iterate_phdr(
      [](dl_phdr_info* file, std::size_t, void* context) {
        auto& sought = *static_cast<Search*>(context);
        if (!file_name(file->dlpi_name).starts_with("libnhalf_")) return 0;
        void* library = dlopen(file->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
        if (library == nullptr) return 0;
        const auto* next = static_cast<const Interface*>(dlsym(library, "nhalf_preloaded"));
        dlclose(library);
        if (next == nullptr || std::strcmp(next->purpose, sought.own->purpose) != 0) return 0;
        if (next->behind == sought.own->behind)
          sought.is_before_own = false;
        else
          sought.is_found |= sought.is_before_own || next->serves();
        return 0;
      },
      &search);
  return search.is_found;
}

inline const char* why_not_served() {
  switch (handles_of(library_file(), library_version())) {
    case Handles::standard:
      return "it is built for the MPI standard ABI";
    case Handles::integers:
      return "its handles are those of MPICH";
    case Handles::open_mpi:
      return "its handles are those of Open MPI";
    case Handles::others:
      break;
  }
  return "its MPI library is not known";
}

/// Prints why the process is not served and what that means for it.
inline void say_not_served(const Interface& own, const char* left_with) {
  if (is_later_rank() || is_left_to_another(own)) return;
  const auto version = library_version();
  const std::string name(version.substr(0, std::min<std::size_t>(version.find('\n'), 80)));
  std::fprintf(stderr, "nhalf: %s: %s (%s), and no preloaded library serves it\n", left_with,
               why_not_served(), name.empty() ? "no library is found" : name.c_str());
}

}  // namespace nhalf::preloaded
