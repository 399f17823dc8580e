// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// Which handles a process has: a library that is compiled with one header cannot read those of
// another one. Where they are others, another library may serve the process.
#pragma once

#include <dlfcn.h>
#include <link.h>
#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "interposer/library.hpp"

namespace nhalf::coll {

enum class Handles { standard, integers, open_mpi, others };

#if defined(OPEN_MPI)
inline constexpr Handles handles_served = Handles::open_mpi;
#elif defined(MPI_ABI)
inline constexpr Handles handles_served = Handles::standard;
#else
inline constexpr Handles handles_served = Handles::integers;
#endif

/// The files of all that is loaded.
inline std::vector<std::string> loaded_files() {
  std::vector<std::string> names;
  dl_iterate_phdr(
      [](dl_phdr_info* file, std::size_t, void* found) {
        static_cast<std::vector<std::string>*>(found)->emplace_back(file->dlpi_name);
        return 0;
      },
      &names);
  return names;
}

/// The file of the MPI library, whose calls the program would make without this one; null where
/// there is none. One that was loaded late, for a module of the program alone, is opened to all,
/// for this library calls it by name.
inline const char* mpi_library() {
  constexpr auto* call = "PMPI_Barrier";
  Dl_info own{};
  if (void* found = dlsym(RTLD_DEFAULT, call))
    return dladdr(found, &own) != 0 ? own.dli_fname : nullptr;
  for (const auto& name : loaded_files()) {
    void* file = dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    void* found = file == nullptr ? nullptr : dlsym(file, call);
    if (found == nullptr || dladdr(found, &own) == 0) continue;
    dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
    return own.dli_fname;
  }
  return nullptr;
}

inline Handles handles_of_process() {
  const char* file = mpi_library();
  if (file == nullptr) return Handles::others;
  const std::string_view path = file;
  if (path.substr(path.rfind('/') + 1).starts_with("libmpi_abi")) return Handles::standard;
  if (library_is("Open MPI")) return Handles::open_mpi;
  for (const auto* name : {"MPICH", "Intel(R) MPI", "MVAPICH", "ParaStation"})
    if (library_is(name)) return Handles::integers;
  return Handles::others;
}

/// Whether this library serves the process; found out at the first call.
inline bool is_served() {
  enum Answer : signed char { unknown, no, yes };
  static constinit std::atomic<Answer> known{unknown};
  const auto answer = known.load(std::memory_order_relaxed);
  if (answer != unknown) [[likely]]
    return answer == yes;
  const bool is = handles_of_process() == handles_served;
  known.store(is ? yes : no, std::memory_order_relaxed);
  return is;
}

/// The library named by NHALF_COLL_CLASSIC, for programs that a library's own header was used for;
/// null where there is none. Says on the first rank's standard error that nothing is routed then.
inline void* classic_library() {
  static void* const library = [] {
    const char* path = std::getenv("NHALF_COLL_CLASSIC");
    void* found = nullptr;
    if (path != nullptr && handles_of_process() == Handles::integers)
      found = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (found != nullptr) return found;
    for (const auto* name : {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"})
      if (const char* rank = std::getenv(name); rank != nullptr && std::string_view(rank) != "0")
        return found;
    std::fputs(
        "nhalf: this program has other handles than the library of collectives that is loaded;"
        " its collectives are its own (nhalf mpi preload NAME --program FILE tells which it has)\n",
        stderr);
    return found;
  }();
  return library;
}

/// What a call goes to in a process that this library does not serve.
template <class Call>
Call* elsewhere(const std::string& name) {
  void* library = classic_library();
  void* found = library == nullptr ? nullptr : dlsym(library, name.c_str());
  if (found == nullptr) found = dlsym(RTLD_DEFAULT, ("P" + name).c_str());
  return reinterpret_cast<Call*>(found);
}

}  // namespace nhalf::coll

/// The first line of a call: other handles pass through as they are.
#define NHALF_SERVED_OR_ELSEWHERE(call, ...)                                                \
  if (!nhalf::coll::is_served()) [[unlikely]] {                                             \
    static auto* const other = nhalf::coll::elsewhere<decltype(PMPI_##call)>("MPI_" #call); \
    return other(__VA_ARGS__);                                                              \
  }
