// SPDX-License-Identifier: Apache-2.0
// What stands behind a preloaded library in the process: other preloaded ones, of which only those
// that serve the process count, and the MPI library.
#pragma once

#include <dlfcn.h>
#include <link.h>

#include <string_view>

namespace nhalf::preloaded {

/// What a preloaded library tells others of its kind, by the name `nhalf_preloaded`.
struct Interface {
  /// What it does: "trace" or "collectives".
  const char* purpose;
  /// Whether it reads the handles of this process.
  bool (*serves)();
  /// What a symbol means after it.
  void* (*behind)(const char* symbol);
};

/// The name of a file without its folder.
inline std::string_view file_name(const char* path) {
  const std::string_view whole = path == nullptr ? "" : path;
  return whole.substr(whole.rfind('/') + 1);
}

/// The interface of the file that holds an address; null where it is no preloaded library.
inline const Interface* interface_at(const void* address) {
  Dl_info file{};
  if (dladdr(address, &file) == 0 || !file_name(file.dli_fname).starts_with("libnhalf_"))
    return nullptr;
  void* library = dlopen(file.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  const auto* found = static_cast<const Interface*>(dlsym(library, "nhalf_preloaded"));
  dlclose(library);
  return found;
}

/// A symbol of an MPI library that was loaded for a module of the program alone, as Python does.
inline void* loaded_late(const char* symbol) {
  struct Search {
    const char* symbol;
    void* found;
  } search{symbol, nullptr};
  dl_iterate_phdr(
      [](dl_phdr_info* file, std::size_t, void* given) {
        auto& wanted = *static_cast<Search*>(given);
        const auto name = file_name(file->dlpi_name);
        if (name.find("mpi") == std::string_view::npos || name.starts_with("libnhalf_")) return 0;
        void* library = dlopen(file->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
        if (library == nullptr) return 0;
        void* found = dlsym(library, wanted.symbol);
        dlclose(library);
        if (found == nullptr || interface_at(found) != nullptr) return 0;
        wanted.found = found;
        return 1;
      },
      &search);
  return search.found;
}

/// What a symbol means after this library, other preloaded ones that serve the process included;
/// null where nothing does.
inline void* behind(const char* symbol) {
  void* found = dlsym(RTLD_NEXT, symbol);
  if (found == nullptr) return loaded_late(symbol);
  const Interface* other = interface_at(found);
  return other == nullptr || other->serves() ? found : other->behind(symbol);
}

/// What a symbol means in the MPI library itself, or in a tool that is not ours.
inline void* in_mpi(const char* symbol) {
  void* found = dlsym(RTLD_NEXT, symbol);
  if (found == nullptr) return loaded_late(symbol);
  for (const Interface* other = interface_at(found); other != nullptr;
       other = interface_at(found)) {
    found = other->behind(symbol);
    if (found == nullptr) return nullptr;
  }
  return found;
}

}  // namespace nhalf::preloaded
