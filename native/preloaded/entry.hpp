// nhalf-needs: MPI
// The exported functions that programs call. Each is a jump: to this library's function if it
// serves the process, else to the next library. The jump leaves arguments in registers and on the
// stack, so no prototype of this library can truncate the handles of another MPI.
#pragma once

#include <dlfcn.h>
#include <link.h>
#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "preloaded/jump.hpp"
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

/// Fails a call that no other library has: MPI_ERR_OTHER, whatever its number, is not 0.
inline int nothing_behind() {
  return MPI_ERR_OTHER;
}

/// Returns the next definition after this library, or a function that fails.
inline Target target_behind(const char* symbol) {
  auto target = reinterpret_cast<Target>(behind(symbol));
  return target != nullptr ? target : reinterpret_cast<Target>(&nothing_behind);
}

/// Finds the target of an entry and stores it.
inline Target found_once(EntryPoint& entry, const void* /*caller*/) {
  const Target target = is_served() ? entry.own : target_behind(entry.symbol);
  std::atomic_ref(entry.target).store(target, std::memory_order_relaxed);
  return target;
}

}  // namespace nhalf::preloaded

/// Exports `symbol`: a jump to `function`, whatever its prototype, if the process is served, else
/// to the next definition.
#define NHALF_ENTRY(symbol, function) NHALF_JUMP(symbol, function, nhalf::preloaded::found_once)

/// Makes a preloaded library: its purpose, the message for programs that it cannot serve, and a
/// first statement for programs that it can.
#define NHALF_PRELOADED(purpose, left_with, serve_first)                  \
  NHALF_JUMPS                                                             \
  namespace nhalf::preloaded {                                            \
  constexpr Interface own_interface{purpose, &is_served, &behind,         \
                                    static_cast<int>(handles_served),     \
                                    MPI_VERSION * 1000 + MPI_SUBVERSION}; \
  bool is_served_by_another() {                                           \
    return is_served_by_another(own_interface);                           \
  }                                                                       \
  void serve() {                                                          \
    serve_first;                                                          \
  }                                                                       \
  void step_aside() {                                                     \
    say_not_served(own_interface, left_with);                             \
  }                                                                       \
  }                                                                       \
  extern "C" __attribute__((visibility("default")))                       \
  const nhalf::preloaded::Interface nhalf_preloaded = nhalf::preloaded::own_interface;
