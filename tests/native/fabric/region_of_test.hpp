// A region of the virtual network that only this process and its children have.
#pragma once

#include <sys/mman.h>

#include <cstddef>

#include "fabric/region.hpp"

namespace nhalf::fabric {

class RegionOfTest {
 public:
  explicit RegionOfTest(std::size_t heap_bytes)
      : bytes((sizeof(Region) + 4095) / 4096 * 4096 + heap_bytes) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    region = static_cast<Region*>(memory);
  }
  RegionOfTest(const RegionOfTest&) = delete;
  RegionOfTest& operator=(const RegionOfTest&) = delete;
  ~RegionOfTest() { munmap(region, bytes); }

  /// Returns how many bytes there are from the state of the network on.
  [[nodiscard]] std::size_t network_bytes() const { return bytes - offsetof(Region, network); }

  std::size_t bytes;
  Region* region;
};

}  // namespace nhalf::fabric
