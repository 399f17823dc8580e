// nhalf-needs: MPI
// nhalf-links: -loshmem
// Memory that lies at the same place in the symmetric heap of every rank.
#pragma once

#include <shmem.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

#include "contract/options.hpp"
#include "contract/transport.hpp"

namespace nhalf::shmem {

/// Room in the heap, at the same place for all; called by all ranks. Throws InputError where there
/// is none.
inline std::byte* allocated(std::size_t size_bytes) {
  auto* const address = static_cast<std::byte*>(shmem_align(4096, size_bytes));
  if (address == nullptr)
    throw InputError("no " + std::to_string(size_bytes) +
                     " bytes left in the symmetric heap: set SHMEM_SYMMETRIC_SIZE");
  return address;
}

/// Zeros at first. All ranks make it together, and free it together: its end frees nothing.
class Symmetric {
 public:
  Symmetric() = default;
  /// Throws InputError if the heap is full.
  explicit Symmetric(std::size_t size_bytes)
      : data_(allocated(size_bytes + 4096)), size_bytes_(size_bytes) {
    std::memset(data_, 0, size_bytes);
    shmem_barrier_all();
  }

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] Bytes bytes() const { return {data_, size_bytes_}; }

  void free() {
    if (data_ != nullptr) shmem_free(data_);
    data_ = nullptr;
  }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_bytes_ = 0;
};

}  // namespace nhalf::shmem
