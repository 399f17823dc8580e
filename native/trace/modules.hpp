// nhalf-needs: MPI
// Call sites, and the program and the shared libraries that they are in, each noted once.
#pragma once

#include "preloaded/outermost.hpp"
#include "trace/frames.hpp"
#include "trace/layout.hpp"
#include "trace/metadata.hpp"
#include "trace/python/interpreter.hpp"

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
    const auto file = file_of(address);
    if (file.map == nullptr) return {};
    const auto name = preloaded::file_name(file.map->l_name);
    const bool is_library =
        name.starts_with("libmpi") || name.starts_with("libpmpi") || name.starts_with("libnhalf_");
    return {is_library ? std::uint16_t{0} : number_of(file.map, {}), is_library, file.offset};
  }

  /// Returns the place of an address that a line of Python called. In a binding, or in code that
  /// is in no file, the address says nothing: then all addresses of the line are one place.
  Place place_of(const void* address, const PythonLine& line) {
    const auto file = file_of(address);
    const auto number = number_of(file.map, line);
    return {number, false, file.map == nullptr || is_binding(*file.map) ? 0 : file.offset};
  }

  /// Returns the folder of the Python package that an address is in, with a slash at its end, if
  /// that is a binding of MPI to Python; else nothing.
  static std::string_view package_of_binding(const void* address) {
    const auto file = file_of(address);
    if (file.map == nullptr || !is_mpi4py(file.map->l_name)) return {};
    const std::string_view path = file.map->l_name;
    return path.substr(0, path.rfind('/') + 1);
  }

 private:
  static constexpr std::size_t most = 4096;

  struct File {
    const link_map* map = nullptr;
    std::uint64_t offset = 0;
  };

  /// A file, or a line of Python that called it.
  struct Known {
    std::uintptr_t begin = 0;
    PythonLine line;

    bool operator==(const Known&) const = default;
  };

  static File file_of(const void* address) {
    Dl_info file{};
    link_map* map = nullptr;
    if (dladdr1(address, &file, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 ||
        map == nullptr)
      return {};
    const auto offset = reinterpret_cast<std::uintptr_t>(address) - map->l_addr;
    return offset >> 48U != 0 ? File{} : File{map, offset};
  }

  /// Whether a file only passes calls of Python on: mpi4py, or libffi, which is below ctypes.
  static bool is_binding(const link_map& map) {
    return is_mpi4py(map.l_name) || preloaded::file_name(map.l_name).starts_with("libffi.");
  }

  static bool is_mpi4py(std::string_view path) {
    const auto name = path.rfind('/');
    return name != std::string_view::npos && path.substr(name + 1).starts_with("MPI.") &&
           path.substr(0, name).ends_with("/mpi4py");
  }

  /// Returns the number of a file with a line of Python, which are written down when they are first
  /// seen; 0 if there is no more room.
  std::uint16_t number_of(const link_map* map, const PythonLine& line) {
    const Known sought{map == nullptr ? 0 : map->l_addr, line};
    const std::lock_guard guard(lock_);
    for (std::size_t at = 0; at < known_.size(); ++at)
      if (known_[at] == sought) return static_cast<std::uint16_t>(at + 1);
    if (known_.size() == most || !take_memory(sizeof sought + 2 * line.file.size())) return 0;
    known_.push_back(sought);
    json::Object module;
    module.add("module", known_.size()).add("path", map == nullptr ? "" : path_of(*map));
    if (!line.file.empty())
      module.add("python", line.file).add("function", line.function).add("line", line.line);
    Metadata::of_process().line(module.text());
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
  /// By number.
  std::vector<Known> known_;
};

using preloaded::Caller;

/// A call site, with the cell that its last call was counted in.
struct Site {
  const void* address = nullptr;
  Cell* cell = nullptr;
  std::uint64_t size_bytes = 0;
  std::uint16_t call = 0;
  /// From 1 on; 0 if the place is not known.
  std::uint16_t number = 0;
  /// The frame of a function that calls for the program; of size 0 if the program itself calls
  /// here.
  Frame frame;
};

/// Returns the number that a place has in the file of its thread, where it is added; 0 if its file
/// has no number, or if there is no more room.
inline std::uint16_t added_number(Layout& layout, const Place& place) {
  if (layout.head.sites == sites_most) layout.head.lost |= sites_joined;
  if (layout.head.sites >= sites_most || place.module == 0) return 0;
  layout.sites[layout.head.sites] = static_cast<std::uint64_t>(place.module) << 48U | place.offset;
  // A reader after a kill sees complete sites only.
  std::atomic_signal_fence(std::memory_order_release);
  return static_cast<std::uint16_t>(++layout.head.sites);
}

/// Returns the number of a place that may have one already.
inline std::uint16_t number_of(Layout& layout, const Place& place) {
  const auto word = static_cast<std::uint64_t>(place.module) << 48U | place.offset;
  for (std::uint32_t at = 0; at < layout.head.sites; ++at)
    if (layout.sites[at] == word) return static_cast<std::uint16_t>(at + 1);
  return added_number(layout, place);
}
}  // namespace nhalf::trace
