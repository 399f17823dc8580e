// nhalf-needs: MPI
// Where in the program its calls of MPI are: each call site by its return address, with a number
// and a place in the file of the thread. A call from Fortran comes through functions of the MPI
// library; from such an address on, the frames of the stack are followed to the program's own. The
// size of a frame depends on its address only, so the stack is unwound once for each of them. A
// call that Python may have made is at the line of Python, which the address alone does not tell.
#pragma once

#include "trace/modules.hpp"

namespace nhalf::trace {
/// Call sites of a thread in programs in Python: by the address that MPI returns to, and the
/// instruction of Python that led there. Each is looked up in the interpreter once.
class PythonSites {
 public:
  explicit PythonSites(Layout& layout) : layout_(layout) {}

  /// Returns the site of an address that Python may have called: that of the innermost line that
  /// is not of the binding itself. Where all are, that of the innermost one.
  Site& of(const void* address) {
    auto& python = Python::of_process();
    const auto innermost = python.innermost();
    auto frame = innermost;
    for (int depth = 0; depth < depth_most && frame.code != nullptr; ++depth) {
      Entry& entry = of_frame(address, frame);
      if (!entry.is_passed) [[likely]]
        return entry.site;
      frame = python.caller_of(frame);
    }
    Entry& entry = of_frame(address, innermost);
    if (entry.is_passed && entry.site.number == 0)
      entry.site.number =
          number_of(layout_, Modules::of_process().place_of(address, python.line(innermost)));
    return entry.site;
  }

 private:
  /// What is known of an address that was reached from an instruction of Python.
  struct Entry {
    const void* address = nullptr;
    const std::byte* code = nullptr;
    std::uint64_t instruction = 0;
    std::uint64_t mark = 0;
    /// Whether the line is no place in the program, but the frame before it may have one.
    bool is_passed = false;
    Site site;
  };

  static constexpr int depth_most = 64;
  static constexpr std::size_t entries_first = 64;
  /// Programs that make code as they go need more and more: then this begins anew.
  static constexpr std::size_t entries_most = 8192;

  Entry& of_frame(const void* address, const PythonFrame& frame) {
    if (entries_.empty()) [[unlikely]]
      if (!enlarge(entries_first)) return unknown_;
    Entry& entry = at(address, frame);
    const auto mark = frame.code == nullptr ? 0 : Python::of_process().mark(frame.code);
    if (entry.address != nullptr && entry.mark == mark) [[likely]]
      return entry;
    return added(address, frame, mark);
  }

  [[gnu::noinline]] Entry& added(const void* address, const PythonFrame& frame,
                                 std::uint64_t mark) {
    if ((used_ + 1) * 2 > entries_.size() && !enlarge(entries_.size() * 2)) clear();
    Entry& entry = at(address, frame);
    if (entry.address == nullptr) ++used_;
    entry = {address, frame.code, frame.instruction, mark, false, {}};
    auto& modules = Modules::of_process();
    if (frame.code == nullptr) {
      entry.site.number = number_of(layout_, modules.place_of(address));
      return entry;
    }
    const auto line = Python::of_process().line(frame);
    entry.is_passed = is_passed(line.file, modules.package_of_binding(address));
    if (!entry.is_passed) entry.site.number = number_of(layout_, modules.place_of(address, line));
    return entry;
  }

  /// Whether a file is of the binding's package, or of Python's machinery for modules or threads.
  static bool is_passed(std::string_view file, std::string_view package) {
    if (!package.empty() && file.starts_with(package)) return true;
    if (file.starts_with("<frozen importlib")) return true;
    const auto folder = file.rfind("/python3");
    if (folder == std::string_view::npos) return false;
    const auto within = file.substr(file.find('/', folder + 1) + 1);
    return within == "threading.py" || within.starts_with("importlib/");
  }

  Entry& at(const void* address, const PythonFrame& frame) {
    auto mixed = reinterpret_cast<std::uintptr_t>(address) * 0x9e3779b97f4a7c15U;
    mixed = (mixed ^ reinterpret_cast<std::uintptr_t>(frame.code)) * 0xd6e8feb86659fd93U;
    mixed = (mixed ^ frame.instruction) * 0x9e3779b97f4a7c15U;
    const auto mask = entries_.size() - 1;
    for (auto place = (mixed >> 40U) & mask;; place = (place + 1) & mask) {
      Entry& entry = entries_[place];
      if (entry.address == nullptr || (entry.address == address && entry.code == frame.code &&
                                       entry.instruction == frame.instruction))
        return entry;
    }
  }

  bool enlarge(std::size_t size) {
    if (size > entries_most || !take_memory(size * sizeof(Entry))) return false;
    std::vector<Entry> before(size);
    before.swap(entries_);
    for (const Entry& entry : before)
      if (entry.address != nullptr) at(entry.address, {{}, entry.code, entry.instruction}) = entry;
    give_memory(before.size() * sizeof(Entry));
    return true;
  }

  void clear() {
    entries_.assign(entries_.size(), {});
    used_ = 0;
  }

  Layout& layout_;
  std::vector<Entry> entries_;
  std::size_t used_ = 0;
  /// That of calls for which there is no memory.
  Entry unknown_;
};

class Sites {
 public:
  explicit Sites(Layout& layout) : layout_(layout), python_(layout), sites_(64) {}

  /// Returns the site of a call.
  [[gnu::always_inline]] Site& of(Caller caller) {
    Site& site = at(caller.address);
    if (site.frame.size_bytes == 0 && site.address != nullptr) [[likely]]
      return site;
    return followed(caller);
  }

 private:
  static constexpr int frames_most = 8;
  /// Stands for the frames of Python, in place of the size of one.
  static constexpr std::uint32_t of_python = ~0U;

  static std::size_t hash(const void* address) {
    const auto mixed = reinterpret_cast<std::uintptr_t>(address) * 0x9e3779b97f4a7c15U;
    return static_cast<std::size_t>(mixed >> 40U);
  }

  /// Returns the entry of an address; one without an address if there is none yet.
  [[gnu::always_inline]] Site& at(const void* address) {
    const auto mask = sites_.size() - 1;
    for (auto place = hash(address) & mask;; place = (place + 1) & mask) {
      Site& site = sites_[place];
      if (site.address == address || site.address == nullptr) [[likely]]
        return site;
    }
  }

  /// Follows the frames of the MPI library to the program, and adds what was not known.
  [[gnu::noinline]] Site& followed(Caller caller) {
    for (int frames = 0; frames < frames_most; ++frames) {
      if (caller.address == nullptr) break;
      Site* site = &at(caller.address);
      if (site->address == nullptr) site = added(caller);
      if (site == nullptr) break;
      if (site->frame.size_bytes == 0) return *site;
      if (site->frame.size_bytes == of_python) return python_.of(caller.address);
      caller = {site->frame.returns_to(caller.frame), site->frame.end(caller.frame)};
    }
    return unknown_;
  }

  /// Adds an address; null if there is no more room.
  Site* added(Caller caller) {
    if ((used_ + 1) * 2 > sites_.size() && !enlarge()) return nullptr;
    Site& site = at(caller.address);
    const auto place = Modules::of_process().place_of(caller.address);
    if (place.is_library) site.frame = frame_of(caller.address, caller.frame);
    if (site.frame.size_bytes == 0) {
      if (Python::of_process().is_loaded())
        site.frame.size_bytes = of_python;
      else
        site.number = added_number(layout_, place);
    }
    site.address = caller.address;
    ++used_;
    return &site;
  }

  bool enlarge() {
    if (!take_memory(sites_.size() * sizeof(Site))) return false;
    std::vector<Site> before(sites_.size() * 2);
    before.swap(sites_);
    for (const Site& site : before)
      if (site.address != nullptr) at(site.address) = site;
    return true;
  }

  Layout& layout_;
  PythonSites python_;
  std::vector<Site> sites_;
  std::size_t used_ = 0;
  /// That of calls whose place is not known.
  Site unknown_;
};
}  // namespace nhalf::trace
