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

/// Calls `look` for each preloaded library of the same purpose as `own`, which is among them, in
/// their order.
template <class Look>
void for_each_of_purpose(const Interface& own, Look look) {
  struct Context {
    const Interface& own;
    Look& look;
  } searching{own, look};
  dl_iterate_phdr(
      [](dl_phdr_info* file, std::size_t, void* argument) {
        auto& context = *static_cast<Context*>(argument);
        if (!file_name(file->dlpi_name).starts_with("libnhalf_")) return 0;
        void* library = dlopen(file->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
        if (library == nullptr) return 0;
        const auto* interface = static_cast<const Interface*>(dlsym(library, "nhalf_preloaded"));
        dlclose(library);
        if (interface != nullptr && std::strcmp(interface->purpose, context.own.purpose) == 0)
          context.look(*interface);
        return 0;
      },
      &searching);
}

/// Whether, of the libraries that understand these handles, another one serves: that of the newest
/// MPI, which knows most calls, and of equal ones the first.
inline bool is_served_by_another(const Interface& own) {
  bool is_before_own = true;
  bool is_found = false;
  for_each_of_purpose(own, [&](const Interface& interface) {
    if (interface.behind == own.behind)
      is_before_own = false;
    else if (interface.handles == own.handles)
      is_found |=
          interface.edition > own.edition || (interface.edition == own.edition && is_before_own);
  });
  return is_found;
}

/// Whether another preloaded library serves the same purpose here, or will report that none does.
inline bool is_left_to_another(const Interface& own) {
  bool is_before_own = true;
  bool is_found = false;
  for_each_of_purpose(own, [&](const Interface& interface) {
    if (interface.behind == own.behind)
      is_before_own = false;
    else
      is_found |= is_before_own || interface.serves();
  });
  return is_found;
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
