// nhalf-needs: MPI
// Calls that Fortran libraries make by their profiling names: mpi_f08 of MPICH and its relatives
// calls PMPI_Init and PMPI_Waitall, and so bypasses any wrapper of MPI_Init and MPI_Waitall. From
// such a library they are the program's calls; from any other caller they pass untouched.
#pragma once

#include "preloaded/mpi.hpp"

#if !defined(OPEN_MPI)

#include <link.h>

#include <atomic>

#include "calls/names.hpp"
#include "preloaded/entry.hpp"

namespace nhalf::calls {
/// Address ranges of the code of Fortran libraries: libmpifort, libmpichfort and the like.
class FortranLibraries {
 public:
  static bool have(const void* address) {
    static const FortranLibraries libraries;
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    for (std::size_t number = 0; number < libraries.count_; ++number)
      if (at >= libraries.parts_[number].begin && at < libraries.parts_[number].end) return true;
    return false;
  }

 private:
  struct Part {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
  };

  FortranLibraries() {
    dl_iterate_phdr(
        [](dl_phdr_info* file, std::size_t, void* self) {
          static_cast<FortranLibraries*>(self)->look_at(*file);
          return 0;
        },
        this);
  }

  void look_at(const dl_phdr_info& file) {
    const std::string_view path = file.dlpi_name;
    const auto name = path.substr(path.rfind('/') + 1);
    if (!name.starts_with("libmpi") || name.find("fort") == std::string_view::npos) return;
    for (std::size_t at = 0; at < file.dlpi_phnum && count_ < parts_.size(); ++at) {
      const auto& header = file.dlpi_phdr[at];
      if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
      const auto begin = static_cast<std::uintptr_t>(file.dlpi_addr) + header.p_vaddr;
      parts_[count_++] = {begin, begin + header.p_memsz};
    }
  }

  std::array<Part, 8> parts_{};
  std::size_t count_ = 0;
};

/// Returns the target of a call by a profiling name: the wrapper if a Fortran library calls.
inline preloaded::Target found_by_caller(preloaded::EntryPoint& entry, const void* caller) {
  if (!preloaded::is_served()) return preloaded::found_once(entry, caller);
  if (FortranLibraries::have(caller)) return entry.own;
  const std::atomic_ref behind(entry.behind);
  if (behind.load(std::memory_order_relaxed) == nullptr)
    behind.store(preloaded::target_behind(entry.symbol), std::memory_order_relaxed);
  return behind.load(std::memory_order_relaxed);
}
}  // namespace nhalf::calls

#define NHALF_PROFILED(name) NHALF_JUMP(PMPI_##name, &MPI_##name, nhalf::calls::found_by_caller)

#define NHALF_CALL(name, lower, traits, arguments, ...) NHALF_PROFILED(name)
#include "calls/all.inc"
#undef NHALF_CALL

NHALF_PROFILED(Init)
NHALF_PROFILED(Init_thread)
NHALF_PROFILED(Finalize)

#undef NHALF_PROFILED

#endif
