// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// The calls behind this library's. Nothing of an MPI library is linked: this library is loaded into
// launchers and shells, too, and before an MPI library that may come late.
#pragma once

#include <dlfcn.h>
#include <link.h>
#include <mpi.h>

#include <array>
#include <atomic>
#include <string>
#include <string_view>

#include "trace/names.hpp"

namespace nhalf::trace {

/// A library that has a call, of those that were loaded for a module of the program alone.
inline void* loaded_late(const char* name) {
  struct Search {
    const char* name;
    void* found;
  } search{name, nullptr};
  dl_iterate_phdr(
      [](dl_phdr_info* file, std::size_t, void* given) {
        auto& wanted = *static_cast<Search*>(given);
        const std::string_view path = file->dlpi_name;
        if (path.substr(path.rfind('/') + 1).find("mpi") == std::string_view::npos) return 0;
        void* library = dlopen(file->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
        if (library == nullptr) return 0;
        void* found = dlsym(library, wanted.name);
        dlclose(library);
        Dl_info own{};
        Dl_info its{};
        const bool is_another = found != nullptr && dladdr(found, &its) != 0 &&
                                dladdr(reinterpret_cast<void*>(&loaded_late), &own) != 0 &&
                                its.dli_fbase != own.dli_fbase;
        if (is_another) wanted.found = found;
        return is_another ? 1 : 0;
      },
      &search);
  return search.found;
}

/// What a name means after this library; null where nothing does.
inline void* behind(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  return found != nullptr ? found : loaded_late(name);
}

/// The same call, of another tool or of the library.
template <Call call, class Function>
[[gnu::always_inline]] inline Function* next(const char* name) {
  static constinit std::atomic<Function*> known{nullptr};
  if (Function* found = known.load(std::memory_order_relaxed)) [[likely]]
    return found;
  auto* found = reinterpret_cast<Function*>(behind(name));
  known.store(found, std::memory_order_relaxed);
  return found;
}

/// A call of the library for this one's own needs; `Tag` tells calls of one type apart.
template <class Tag, class Function>
Function* own(const char* name) {
  static auto* const found = reinterpret_cast<Function*>(behind(name));
  return found;
}

#define NHALF_OWN(name) \
  (::nhalf::trace::own<struct Tag##name, decltype(PMPI_##name)>("PMPI_" #name))

inline std::string_view library_version() {
  static std::array<char, 1 << 15> text{};
  static int length = 0;
  if (length == 0) NHALF_OWN(Get_library_version)(text.data(), &length);
  return text.data();
}

/// A handle that is an address in Open MPI and a number elsewhere.
#if defined(OPEN_MPI)
template <class Handle>
Handle constant(const char* name) {
  // A program may have a copy of its own, which its library goes by as well.
  void* found = dlsym(RTLD_DEFAULT, name);
  return static_cast<Handle>(found != nullptr ? found : loaded_late(name));
}
inline MPI_Comm world() {
  static auto* const found = constant<MPI_Comm>("ompi_mpi_comm_world");
  return found;
}
inline MPI_Comm no_comm() {
  static auto* const found = constant<MPI_Comm>("ompi_mpi_comm_null");
  return found;
}
inline MPI_Datatype bytes_type() {
  static auto* const found = constant<MPI_Datatype>("ompi_mpi_byte");
  return found;
}
#else
inline MPI_Datatype bytes_type() {
  return MPI_BYTE;
}
inline MPI_Comm world() {
  return MPI_COMM_WORLD;
}
inline MPI_Comm no_comm() {
  return MPI_COMM_NULL;
}
#endif

/// The name of the file that has the library's own call; empty where there is none.
inline std::string_view file_with(const char* name) {
  for (void* found : {behind(name), loaded_late(name)}) {
    Dl_info file{};
    if (found == nullptr || dladdr(found, &file) == 0) continue;
    const std::string_view path = file.dli_fname;
    const auto own_name = path.substr(path.rfind('/') + 1);
    // Behind this one there may be its like for other handles.
    if (own_name.find("nhalf") == std::string_view::npos) return own_name;
  }
  return {};
}

/// The names of further libraries of MPI that the process has loaded; empty where there is one.
inline std::string other_libraries() {
  struct Search {
    std::string_view used;
    std::string names;
  } search{file_with("PMPI_Barrier"), {}};
  dl_iterate_phdr(
      [](dl_phdr_info* file, std::size_t, void* given) {
        auto& wanted = *static_cast<Search*>(given);
        const std::string_view path = file->dlpi_name;
        const auto name = path.substr(path.rfind('/') + 1);
        if (!name.starts_with("libmpi") || name == wanted.used) return 0;
        void* library = dlopen(file->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
        if (library == nullptr) return 0;
        void* found = dlsym(library, "PMPI_Barrier");
        dlclose(library);
        Dl_info place{};
        // What it is linked with is found in it, too.
        if (found != nullptr && dladdr(found, &place) != 0 &&
            std::string_view(place.dli_fname).ends_with(name))
          wanted.names += (wanted.names.empty() ? "" : ", ") + std::string(name);
        return 0;
      },
      &search);
  return search.names;
}

/// Whether the handles of the process are those that this library was compiled with.
inline bool is_served() {
  const auto file = file_with("PMPI_Barrier");
  if (file.empty()) return false;
  const bool is_standard = file.starts_with("libmpi_abi");
#if defined(MPI_ABI)
  return is_standard;
#elif defined(OPEN_MPI)
  return !is_standard && library_version().find("Open MPI") != std::string_view::npos;
#else
  return !is_standard && library_version().find("Open MPI") == std::string_view::npos;
#endif
}

}  // namespace nhalf::trace
