// Memory with small pages, or with huge ones if the system has them.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <new>
#include <sstream>
#include <string>

namespace nhalf {

/// Zeroed anonymous memory, aligned to a huge page and unmapped by the destructor.
class Region {
 public:
  static constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

  /// Throws std::bad_alloc if there is not enough memory.
  Region(std::size_t size_bytes, bool huge)
      : mapped_bytes_(rounded(size_bytes) + huge_page_bytes), size_bytes_(rounded(size_bytes)) {
    mapped_ = mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped_ == MAP_FAILED) throw std::bad_alloc();
    const auto address = reinterpret_cast<std::uintptr_t>(mapped_);
    data_ = static_cast<std::byte*>(mapped_) + (huge_page_bytes - address % huge_page_bytes);
    // A system without huge pages ignores this; huge_share() returns what it granted.
    madvise(mapped_, mapped_bytes_, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    std::memset(data_, 0, size_bytes_);
  }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  ~Region() { munmap(mapped_, mapped_bytes_); }

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size_bytes() const { return size_bytes_; }

  /// Returns the fraction that lies in huge pages, as the kernel counts them.
  [[nodiscard]] double huge_share() const {
    std::ifstream maps("/proc/self/smaps");
    bool inside = false;
    for (std::string line; std::getline(maps, line);) {
      std::uintptr_t begin = 0;
      std::uintptr_t end = 0;
      char dash = 0;
      std::istringstream words(line);
      if (words >> std::hex >> begin >> dash >> end && dash == '-') {
        const auto data_address = reinterpret_cast<std::uintptr_t>(data_);
        inside = begin <= data_address && data_address < end;
      } else if (inside && line.starts_with("AnonHugePages:")) {
        const double huge_bytes = 1024.0 * std::stod(line.substr(line.find(':') + 1));
        return std::min(1.0, huge_bytes / static_cast<double>(size_bytes_));
      }
    }
    return 0;
  }

 private:
  static std::size_t rounded(std::size_t size_bytes) {
    return (size_bytes + huge_page_bytes - 1) / huge_page_bytes * huge_page_bytes;
  }

  std::size_t mapped_bytes_;
  std::size_t size_bytes_;
  void* mapped_ = nullptr;
  std::byte* data_ = nullptr;
};

}  // namespace nhalf
