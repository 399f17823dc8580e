// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// Calls that libraries for Fortran make by their profiling names: mpi_f08 of MPICH and its
// relatives goes to PMPI_Init and PMPI_Waitall, and past whatever stands before MPI_Init and
// MPI_Waitall. Where such a library calls them, they are the program's calls; everybody else's go
// through untouched.
#pragma once

#include <mpi.h>

#if !defined(OPEN_MPI)

#include <link.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "trace/library.hpp"

namespace nhalf::trace {

/// Where the code of libraries for Fortran is: libmpifort, libmpichfort and their like.
class FortranLibraries {
 public:
  static bool have(const void* address) {
    static const FortranLibraries known;
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    for (std::size_t number = 0; number < known.count_; ++number)
      if (at >= known.parts_[number].begin && at < known.parts_[number].end) return true;
    return false;
  }

 private:
  struct Part {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
  };

  FortranLibraries() {
    dl_iterate_phdr(
        [](dl_phdr_info* file, std::size_t, void* given) {
          static_cast<FortranLibraries*>(given)->look_at(*file);
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

}  // namespace nhalf::trace

/// Every entry point takes as many arguments as the longest, and as wide as the widest: a process
/// may have another library than the one that this was compiled for.
#define NHALF_GIVEN                                                                         \
  void *a0, void *a1, void *a2, void *a3, void *a4, void *a5, void *a6, void *a7, void *a8, \
      void *a9, void *a10, void *a11, void *a12, void *a13
#define NHALF_PASSED a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13

namespace nhalf::trace {
using Profiled = int(NHALF_GIVEN);
}

#define NHALF_PROFILED(name)                                                       \
  extern "C" __attribute__((visibility("default"))) int nhalf_profiled_##name(     \
      NHALF_GIVEN) __asm__("PMPI_" #name);                                         \
  int nhalf_profiled_##name(NHALF_GIVEN) {                                         \
    using namespace nhalf::trace;                                                  \
    if (FortranLibraries::have(__builtin_return_address(0))) {                     \
      auto* const counted = reinterpret_cast<void*>(&MPI_##name);                  \
      return reinterpret_cast<Profiled*>(counted)(NHALF_PASSED);                   \
    }                                                                              \
    static auto* const other = reinterpret_cast<Profiled*>(behind("PMPI_" #name)); \
    return other(NHALF_PASSED);                                                    \
  }

#define NHALF_CALL(name, lower, parameters, arguments, ...) NHALF_PROFILED(name)
#include "trace/calls/all.inc"
#undef NHALF_CALL

NHALF_PROFILED(Init)
NHALF_PROFILED(Init_thread)
NHALF_PROFILED(Finalize)

#undef NHALF_PROFILED
#undef NHALF_GIVEN
#undef NHALF_PASSED

#endif
