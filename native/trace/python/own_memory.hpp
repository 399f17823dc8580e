// Reading this process's memory where an address may be wrong: through the kernel, which refuses
// instead of killing.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace nhalf::trace {

class OwnMemory {
 public:
  OwnMemory() : descriptor_(open("/proc/self/mem", O_RDONLY | O_CLOEXEC)) {}
  OwnMemory(const OwnMemory&) = delete;
  OwnMemory& operator=(const OwnMemory&) = delete;
  ~OwnMemory() {
    if (descriptor_ >= 0) close(descriptor_);
  }

  /// Returns the pointer that is kept at an address; null if it cannot be read.
  [[nodiscard]] const std::byte* pointer(const std::byte* address) const {
    const std::byte* value = nullptr;
    const auto at = static_cast<off_t>(reinterpret_cast<std::uintptr_t>(address));
    const auto read = pread(descriptor_, &value, sizeof value, at);
    return read == static_cast<ssize_t>(sizeof value) ? value : nullptr;
  }

 private:
  int descriptor_;
};

}  // namespace nhalf::trace
