// nhalf-needs: MPI
// Identifies the MPI library of this process and the kind of its handles, for all preloaded
// libraries.
#pragma once

#include <dlfcn.h>
#include <link.h>

#include <atomic>

#include "preloaded/chain.hpp"
#include "preloaded/mpi.hpp"

namespace nhalf::preloaded {

/// Kinds of handles: of the MPI standard ABI, integers as in MPICH and its relatives, addresses as
/// in Open MPI, or unknown.
enum class Handles : unsigned char { standard, integers, open_mpi, others };

#if defined(OPEN_MPI)
inline constexpr Handles handles_served = Handles::open_mpi;
#elif defined(MPI_ABI)
inline constexpr Handles handles_served = Handles::standard;
#else
inline constexpr Handles handles_served = Handles::integers;
#endif

/// Returns the version text of the MPI library, cached; empty without a library.
inline std::string_view library_version() {
  // Longer than any library's MPI_MAX_LIBRARY_VERSION_STRING.
  static constinit std::array<char, 1 << 15> text{};
  static const int length = [] {
    int written = 0;
    auto* const ask =
        reinterpret_cast<decltype(&PMPI_Get_library_version)>(in_mpi("PMPI_Get_library_version"));
    const bool has_version = ask != nullptr && ask(text.data(), &written) == MPI_SUCCESS;
    return has_version ? written : 0;
  }();
  return {text.data(), static_cast<std::size_t>(length)};
}

inline bool library_is(std::string_view name) {
  return library_version().find(name) != std::string_view::npos;
}

/// Returns the name of the file with the library's PMPI calls, which may be a separate file; empty
/// without a library.
inline std::string_view library_file() {
  Dl_info file{};
  void* function = in_mpi("PMPI_Get_library_version");
  return function == nullptr || dladdr(function, &file) == 0 ? "" : file_name(file.dli_fname);
}

/// Whether a file is named as in the MPI standard ABI (MPI 5.0, section 20.2).
constexpr bool is_standard_file(std::string_view name) {
  return name.starts_with("libmpi_abi") || name.starts_with("libpmpi_abi");
}

/// Returns the kind of a library's handles by the name of its file and its version text.
constexpr Handles handles_of(std::string_view file, std::string_view version) {
  if (file.empty()) return Handles::others;
  if (is_standard_file(file)) return Handles::standard;
  if (version.find("Open MPI") != std::string_view::npos) return Handles::open_mpi;
  for (const std::string_view name : {"MPICH", "Intel(R) MPI", "MVAPICH", "ParaStation"})
    if (version.find(name) != std::string_view::npos) return Handles::integers;
  return Handles::others;
}

/// Whether another preloaded library serves the process for the same purpose; defined by
/// NHALF_PRELOADED (entry.hpp).
bool is_served_by_another();

/// Called when a library finds that it serves the process, or not; defined by NHALF_PRELOADED
/// (entry.hpp).
void serve();
void step_aside();

/// Whether this library understands the handles of the process; determined at the first call.
[[gnu::always_inline]] inline bool is_served() {
  enum Answer : signed char { unknown, no, yes };
  static constinit std::atomic<Answer> cached{unknown};
  const auto answer = cached.load(std::memory_order_relaxed);
  if (answer != unknown) [[likely]]
    return answer == yes;
  const bool served =
      handles_of(library_file(), library_version()) == handles_served && !is_served_by_another();
  if (served) serve();
  if (cached.exchange(served ? yes : no) != unknown) return served;
  hide_absent_calls(reinterpret_cast<void*>(&is_served));
  // Other preloaded libraries hide their absent calls before the program looks for them.
  const auto* next = static_cast<const Interface*>(dlsym(RTLD_NEXT, "nhalf_preloaded"));
  if (next != nullptr) next->serves();
  if (!served) step_aside();
  return served;
}

/// Makes the symbols of an MPI library global that was loaded with local scope, for libraries that
/// refer to it by name.
inline void open_library_to_all() {
  Dl_info file{};
  if (dlsym(RTLD_DEFAULT, "PMPI_Get_library_version") != nullptr) return;
  if (void* function = loaded_late("PMPI_Get_library_version"); function != nullptr)
    if (dladdr(function, &file) != 0) dlopen(file.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
}

/// Returns the names of further MPI libraries in the process; empty if there is only one.
inline std::string other_libraries() {
  struct Search {
    std::string_view used;
    std::string names;
  } search{library_file(), {}};
  dl_iterate_phdr(
      [](dl_phdr_info* file, std::size_t, void* context) {
        auto& sought = *static_cast<Search*>(context);
        const auto name = file_name(file->dlpi_name);
        if (!name.starts_with("libmpi") || name == sought.used) return 0;
        void* library = dlopen(file->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
        if (library == nullptr) return 0;
        void* function = dlsym(library, "PMPI_Barrier");
        dlclose(library);
        Dl_info place{};
        // dlsym also finds symbols of the libraries that this one is linked with.
        if (function != nullptr && dladdr(function, &place) != 0 &&
            file_name(place.dli_fname) == name)
          sought.names += (sought.names.empty() ? "" : ", ") + std::string(name);
        return 0;
      },
      &search);
  return search.names;
}

}  // namespace nhalf::preloaded
