// nhalf-needs: MPI
// Where in the program its calls of MPI are: each call site by its return address, with a number
// and a place in the file of the thread. A call from Fortran comes through functions of the MPI
// library; from such an address on, the frames of the stack are followed to the program's own. The
// size of a frame depends on its address only, so the stack is unwound once for each of them. A
// call that Python may have made is at the line of Python, which the address alone does not tell.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/budget.hpp"
#include "trace/frames.hpp"
#include "trace/layout.hpp"
#include "trace/modules.hpp"
#include "trace/python/sites.hpp"
#include "trace/site.hpp"

namespace nhalf::trace {

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
