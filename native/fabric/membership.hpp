// As which rank of which run a process was started.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <optional>
#include <span>

#include "fabric/region.hpp"

namespace nhalf::fabric {

inline std::optional<int> number_of_launcher() {
  for (const auto* name : {"PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK"})
    if (const char* text = std::getenv(name)) return std::atoi(text);
  return std::nullopt;
}

/// Maps the region that NHALF_FABRIC names; nothing in a process that is no rank.
inline std::span<std::byte> shared_memory() {
  const char* path = std::getenv("NHALF_FABRIC");
  if (path == nullptr) return {};
  const int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return {};
  struct stat status{};
  void* memory = MAP_FAILED;
  std::size_t bytes = 0;
  if (fstat(file, &status) == 0 && static_cast<std::size_t>(status.st_size) > sizeof(Region)) {
    bytes = static_cast<std::size_t>(status.st_size);
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
  }
  close(file);
  if (memory == MAP_FAILED) return {};
  return {static_cast<std::byte*>(memory), bytes};
}

}  // namespace nhalf::fabric
