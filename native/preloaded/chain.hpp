// Finds what follows a preloaded library in symbol lookup: other preloaded libraries, of which only
// those that serve the process count, and the MPI library.
#pragma once

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include "contract/vocabulary.hpp"

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

// Makes weak references to calls that the MPI library lacks null again. Modules for several
// versions of MPI, such as mpi4py's, test whether a call exists before they use it; a preloaded
// library exports calls that the MPI library may lack.

/// Symbols and relocations of a loaded file's dynamic section (System V ABI, chapter 5).
struct DynamicSection {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  std::span<const ElfW(Rela)> relocations;

  explicit DynamicSection(const dl_phdr_info& file) {
    const ElfW(Rela)* first = nullptr;
    std::size_t size_bytes = 0;
    for (int segment = 0; segment < file.dlpi_phnum; ++segment) {
      if (file.dlpi_phdr[segment].p_type != PT_DYNAMIC) continue;
      const auto* entry =
          reinterpret_cast<const ElfW(Dyn)*>(file.dlpi_addr + file.dlpi_phdr[segment].p_vaddr);
      for (; entry->d_tag != DT_NULL; ++entry) {
        const auto address = entry->d_un.d_ptr;
        if (entry->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(address);
        if (entry->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(address);
        if (entry->d_tag == DT_RELA) first = reinterpret_cast<const ElfW(Rela)*>(address);
        if (entry->d_tag == DT_RELASZ) size_bytes = entry->d_un.d_val;
      }
    }
    // The loader makes these addresses absolute before it relocates a file; the kernel's vDSO keeps
    // offsets and has no references.
    const bool is_relocated = reinterpret_cast<std::uintptr_t>(first) >= file.dlpi_addr;
    if (first != nullptr && symbols != nullptr && names != nullptr && is_relocated)
      relocations = {first, size_bytes / sizeof *first};
  }
};

/// Whether a place became read-only after relocation.
inline bool is_read_only(const dl_phdr_info& file, std::uintptr_t place) {
  for (int segment = 0; segment < file.dlpi_phnum; ++segment) {
    const auto& header = file.dlpi_phdr[segment];
    const auto begin = file.dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_GNU_RELRO && place >= begin && place < begin + header.p_memsz)
      return true;
  }
  return false;
}

/// Sets a reference to null, on a page that may have to be made writable.
inline void make_null(const dl_phdr_info& file, std::uintptr_t place) {
  const auto page_size = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  auto* const page = reinterpret_cast<void*>(place & ~(page_size - 1));
  const bool is_closed = is_read_only(file, place);
  if (is_closed && mprotect(page, page_size, PROT_READ | PROT_WRITE) != 0) return;
  __atomic_store_n(reinterpret_cast<void**>(place), nullptr, __ATOMIC_RELAXED);
  if (is_closed) mprotect(page, page_size, PROT_READ);
}

/// Whether an address lies in this library.
inline bool is_own(const void* address, const void* own) {
  Dl_info file{};
  Dl_info own_file{};
  return dladdr(address, &file) != 0 && dladdr(own, &own_file) != 0 &&
         file.dli_fbase == own_file.dli_fbase;
}

/// Sets weak references to this library's exports to null if no MPI library has the call; `own` is
/// an address in this library.
inline void hide_absent_calls(const void* own) {
  dl_iterate_phdr(
      [](dl_phdr_info* file, std::size_t, void* own_address) {
        if (file_name(file->dlpi_name).starts_with("libnhalf_")) return 0;
        const DynamicSection section(*file);
        for (const auto& relocation : section.relocations) {
          const auto& symbol = section.symbols[ELF64_R_SYM(relocation.r_info)];
          if (ELF64_ST_BIND(symbol.st_info) != STB_WEAK || symbol.st_shndx != SHN_UNDEF) continue;
          const char* name = section.names + symbol.st_name;
          if (!std::string_view(name).starts_with("MPI_")) continue;
          const auto place = file->dlpi_addr + relocation.r_offset;
          const void* target = *reinterpret_cast<void**>(place);
          if (target != nullptr && is_own(target, own_address) && in_mpi(name) == nullptr)
            make_null(*file, place);
        }
        return 0;
      },
      const_cast<void*>(own));
}

}  // namespace nhalf::preloaded
