// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// Where in the program its calls of MPI are: each call site by its return address, with a number
// and a place in the file of the thread. A call from Fortran comes through functions of the MPI
// library; from such an address on, the frames of the stack are followed to the program's own. The
// size of a frame depends on its address only, so the stack is unwound once for each of them.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/budget.hpp"
#include "trace/frames.hpp"
#include "trace/layout.hpp"
#include "trace/modules.hpp"

namespace nhalf::trace {

/// Where a call returns to, and the end of the stack frame in which that is recorded.
struct Caller {
  const void* address = nullptr;
  const void* frame = nullptr;
};

/// A call site, with the cell that its last call was counted in.
struct Site {
  const void* address = nullptr;
  Cell* cell = nullptr;
  std::uint64_t size_bytes = 0;
  std::uint16_t call = 0;
  /// From 1 on; 0 if the place is not known.
  std::uint16_t number = 0;
  /// The frame of a function of the MPI library; of size 0 if the program itself calls here.
  Frame frame;
};

class Sites {
 public:
  explicit Sites(Layout& layout) : layout_(layout), sites_(64) {}

  /// Returns the site of a call.
  [[gnu::always_inline]] Site& of(Caller caller) {
    Site& site = at(caller.address);
    if (site.frame.size_bytes == 0 && site.address != nullptr) [[likely]]
      return site;
    return followed(caller);
  }

 private:
  static constexpr int frames_most = 8;

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
      if (layout_.head.sites == sites_most) layout_.head.lost |= sites_joined;
      if (layout_.head.sites < sites_most && place.module != 0) {
        layout_.sites[layout_.head.sites] =
            static_cast<std::uint64_t>(place.module) << 48U | place.offset;
        // A reader after a kill sees complete sites only.
        std::atomic_signal_fence(std::memory_order_release);
        site.number = static_cast<std::uint16_t>(++layout_.head.sites);
      }
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
  std::vector<Site> sites_;
  std::size_t used_ = 0;
  /// That of calls whose place is not known.
  Site unknown_;
};

}  // namespace nhalf::trace
