// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// Which MPI library this process has, and which handles: asked in one place by all that is
// preloaded.
#pragma once

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <string>
#include <string_view>

#include "preloaded/absent_calls.hpp"
#include "preloaded/chain.hpp"
#include "preloaded/mpi.hpp"

namespace nhalf::preloaded {

/// Kinds of handles: those of the MPI standard ABI, integers as MPICH and its relatives have them,
/// addresses as Open MPI has them, or none that is known.
enum class Handles : unsigned char { standard, integers, open_mpi, others };

#if defined(OPEN_MPI)
inline constexpr Handles handles_served = Handles::open_mpi;
#elif defined(MPI_ABI)
inline constexpr Handles handles_served = Handles::standard;
#else
inline constexpr Handles handles_served = Handles::integers;
#endif

/// What the library says of itself, kept for good; empty where there is none.
inline std::string_view library_version() {
  // Longer than any library's MPI_MAX_LIBRARY_VERSION_STRING.
  static constinit std::array<char, 1 << 15> text{};
  static const int length = [] {
    int written = 0;
    auto* const ask =
        reinterpret_cast<decltype(&PMPI_Get_library_version)>(in_mpi("PMPI_Get_library_version"));
    const bool is_said = ask != nullptr && ask(text.data(), &written) == MPI_SUCCESS;
    return is_said ? written : 0;
  }();
  return {text.data(), static_cast<std::size_t>(length)};
}

inline bool library_is(std::string_view name) {
  return library_version().find(name) != std::string_view::npos;
}

/// The name of the file that has the library's own calls; empty where there is none. Libraries may
/// keep those of the profiling interface in a file of their own.
inline std::string_view library_file() {
  Dl_info file{};
  void* found = in_mpi("PMPI_Get_library_version");
  return found == nullptr || dladdr(found, &file) == 0 ? "" : file_name(file.dli_fname);
}

/// Whether a file is named as the MPI standard ABI asks (MPI 5.0, section 20.2).
constexpr bool is_standard_file(std::string_view name) {
  return name.starts_with("libmpi_abi") || name.starts_with("libpmpi_abi");
}

/// The handles of a library by its file and by what it says of itself.
constexpr Handles handles_of(std::string_view file, std::string_view version) {
  if (file.empty()) return Handles::others;
  if (is_standard_file(file)) return Handles::standard;
  if (version.find("Open MPI") != std::string_view::npos) return Handles::open_mpi;
  for (const std::string_view name : {"MPICH", "Intel(R) MPI", "MVAPICH", "ParaStation"})
    if (version.find(name) != std::string_view::npos) return Handles::integers;
  return Handles::others;
}

/// What a library does when it finds the process served, or not; defined where it is put together
/// (entry.hpp).
void serve();
void step_aside();

/// Whether this library reads the handles of the process; found out at the first call.
[[gnu::always_inline]] inline bool is_served() {
  enum Answer : signed char { unknown, no, yes };
  static constinit std::atomic<Answer> known{unknown};
  const auto answer = known.load(std::memory_order_relaxed);
  if (answer != unknown) [[likely]]
    return answer == yes;
  const bool is = handles_of(library_file(), library_version()) == handles_served;
  if (is) serve();
  if (known.exchange(is ? yes : no) != unknown) return is;
  hide_absent_calls(reinterpret_cast<void*>(&is_served));
  // The others hide theirs before the program looks for them.
  const auto* next = static_cast<const Interface*>(dlsym(RTLD_NEXT, "nhalf_preloaded"));
  if (next != nullptr) next->serves();
  if (!is) step_aside();
  return is;
}

/// Opens an MPI library to all that was loaded for a module of the program alone, for those that
/// call it by name.
inline void open_library_to_all() {
  Dl_info file{};
  if (dlsym(RTLD_DEFAULT, "PMPI_Get_library_version") != nullptr) return;
  if (void* found = loaded_late("PMPI_Get_library_version"); found != nullptr)
    if (dladdr(found, &file) != 0) dlopen(file.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
}

/// The names of further MPI libraries that the process has loaded; empty where there is one.
inline std::string other_libraries() {
  struct Search {
    std::string_view used;
    std::string names;
  } search{library_file(), {}};
  dl_iterate_phdr(
      [](dl_phdr_info* file, std::size_t, void* given) {
        auto& wanted = *static_cast<Search*>(given);
        const auto name = file_name(file->dlpi_name);
        if (!name.starts_with("libmpi") || name == wanted.used) return 0;
        void* library = dlopen(file->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
        if (library == nullptr) return 0;
        void* found = dlsym(library, "PMPI_Barrier");
        dlclose(library);
        Dl_info place{};
        // What it is linked with is found in it, too.
        if (found != nullptr && dladdr(found, &place) != 0 && file_name(place.dli_fname) == name)
          wanted.names += (wanted.names.empty() ? "" : ", ") + std::string(name);
        return 0;
      },
      &search);
  return search.names;
}

}  // namespace nhalf::preloaded
