// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// The program and the shared libraries that call sites are in, each noted once.
#pragma once

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "preloaded/chain.hpp"
#include "preloaded/lasting.hpp"
#include "trace/lock.hpp"
#include "trace/metadata.hpp"

namespace nhalf::trace {

/// An address as its file has it.
struct Place {
  /// Number of the file, from 1 on; 0 if the address is in none.
  std::uint16_t module = 0;
  /// Whether the file is part of an MPI library, or one of nhalf's.
  bool is_library = false;
  std::uint64_t offset = 0;
};

class Modules {
 public:
  static Modules& of_process() { return preloaded::lasting<Modules>(); }

  Place place_of(const void* address) {
    Dl_info file{};
    link_map* map = nullptr;
    if (dladdr1(address, &file, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 ||
        map == nullptr)
      return {};
    const auto offset = reinterpret_cast<std::uintptr_t>(address) - map->l_addr;
    if (offset >> 48U != 0) return {};
    const auto name = preloaded::file_name(map->l_name);
    const bool is_library =
        name.starts_with("libmpi") || name.starts_with("libpmpi") || name.starts_with("libnhalf_");
    return {is_library ? std::uint16_t{0} : number_of(*map), is_library, offset};
  }

 private:
  static constexpr std::size_t most = 4096;

  /// Returns the number of a file, which is written down when it is first seen.
  std::uint16_t number_of(const link_map& map) {
    const std::lock_guard guard(lock_);
    for (std::size_t at = 0; at < known_.size(); ++at)
      if (known_[at] == map.l_addr) return static_cast<std::uint16_t>(at + 1);
    if (known_.size() == most) return 0;
    known_.push_back(map.l_addr);
    const auto number = std::to_string(known_.size());
    Metadata::of_process().line("{\"module\":" + number + ",\"path\":" + json::quote(path_of(map)) +
                                "}");
    return static_cast<std::uint16_t>(known_.size());
  }

  /// Returns the path of a file; that of the program itself has no name.
  static std::string path_of(const link_map& map) {
    if (map.l_name != nullptr && map.l_name[0] != '\0') return map.l_name;
    std::array<char, 4096> path{};
    const auto length = readlink("/proc/self/exe", path.data(), path.size() - 1);
    return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : "";
  }

  Mutex lock_;
  /// By number: where each file begins.
  std::vector<std::uintptr_t> known_;
};

}  // namespace nhalf::trace
