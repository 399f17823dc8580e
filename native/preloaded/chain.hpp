// Finds what follows a preloaded library in symbol lookup: other preloaded libraries, of which only
// those that serve the process count, and the MPI library.
#pragma once

#include <dlfcn.h>
#include <link.h>

#include <string_view>

namespace nhalf::preloaded {

/// The interface of a preloaded library to others of its kind, exported as `nhalf_preloaded`.
struct Interface {
  /// Purpose of the library: "trace" or "collectives".
  const char* purpose;
  /// Returns whether it understands the handles of this process.
  bool (*serves)();
  /// Returns the next definition of a symbol after this library.
  void* (*behind)(const char* symbol);
  /// The kind of handles that it understands, and the version of MPI that it was built for, larger
  /// for newer ones.
  int handles;
  int edition;
};

/// Returns the name of a file without its folder.
inline std::string_view file_name(const char* path) {
  const std::string_view full_path = path == nullptr ? "" : path;
  return full_path.substr(full_path.rfind('/') + 1);
}

/// Returns the interface of the file that holds an address; null if it is no preloaded library.
inline const Interface* interface_at(const void* address) {
  Dl_info file{};
  if (dladdr(address, &file) == 0 || !file_name(file.dli_fname).starts_with("libnhalf_"))
    return nullptr;
  void* library = dlopen(file.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  const auto* interface = static_cast<const Interface*>(dlsym(library, "nhalf_preloaded"));
  dlclose(library);
  return interface;
}

/// Finds a symbol of an MPI library that was loaded with local scope, as Python does for modules.
inline void* loaded_late(const char* symbol) {
  struct Search {
    const char* symbol;
    void* target;
  } search{symbol, nullptr};
  dl_iterate_phdr(
      [](dl_phdr_info* file, std::size_t, void* context) {
        auto& sought = *static_cast<Search*>(context);
        const auto name = file_name(file->dlpi_name);
        if (name.find("mpi") == std::string_view::npos || name.starts_with("libnhalf_")) return 0;
        void* library = dlopen(file->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
        if (library == nullptr) return 0;
        void* target = dlsym(library, sought.symbol);
        dlclose(library);
        if (target == nullptr || interface_at(target) != nullptr) return 0;
        sought.target = target;
        return 1;
      },
      &search);
  return search.target;
}

/// Returns the next definition of a symbol after this library, in other preloaded libraries only if
/// they serve the process; null if there is none.
inline void* behind(const char* symbol) {
  void* target = dlsym(RTLD_NEXT, symbol);
  if (target == nullptr) return loaded_late(symbol);
  const Interface* next = interface_at(target);
  return next == nullptr || next->serves() ? target : next->behind(symbol);
}

/// Returns the definition of a symbol in the MPI library, or in a tool other than nhalf's.
inline void* in_mpi(const char* symbol) {
  void* target = dlsym(RTLD_NEXT, symbol);
  if (target == nullptr) return loaded_late(symbol);
  for (const Interface* next = interface_at(target); next != nullptr; next = interface_at(target)) {
    target = next->behind(symbol);
    if (target == nullptr) return nullptr;
  }
  return target;
}

}  // namespace nhalf::preloaded
