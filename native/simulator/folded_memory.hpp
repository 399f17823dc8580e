// Memory of simulated ranks: what is large is the same for all, and its bytes are not moved.
#pragma once

#include <smpi/smpi.h>

#include <map>
#include <set>
#include <simgrid/s4u.hpp>

#include "contract/buffer.hpp"

namespace nhalf::simulator {
/// Gives buffers of up to a share of `total_bytes` memory of their own. Of larger ones all ranks
/// use the same, which SMPI folds once more (one block mapped again and again) and does not copy
/// from or to: messages among a thousand ranks then need neither memory nor time of this machine,
/// and hold no data.
class FoldedMemory {
 public:
  /// Bytes that all ranks together may have as their own in one buffer each.
  static constexpr std::size_t total_bytes = std::size_t{16} << 20;

  static void install(int ranks) {
    memory_source = {.take = take,
                     .give_back = give_back,
                     .real_bytes = total_bytes / static_cast<std::size_t>(ranks)};
  }

  /// The simulation is over: what is still in use ends with the program.
  static void close() { is_over_ = true; }

 private:
  /// Memory that every rank may use once at a time.
  struct Region {
    std::byte* memory;
    std::set<aid_t> users;
  };

  static std::byte* take(std::size_t size_bytes) {
    if (size_bytes <= memory_source.real_bytes) return host_memory.take(size_bytes);
    const auto self = simgrid::s4u::this_actor::get_pid();
    auto& regions = regions_[size_bytes];
    auto free = std::ranges::find_if(
        regions, [&](const Region& region) { return !region.users.contains(self); });
    if (free == regions.end())
      free = regions.insert(free, {static_cast<std::byte*>(SMPI_SHARED_MALLOC(size_bytes)), {}});
    free->users.insert(self);
    return free->memory;
  }
  static void give_back(std::byte* memory) {
    if (is_over_) return;
    for (auto& [size_bytes, regions] : regions_)
      for (auto& region : regions)
        if (region.memory == memory) {
          region.users.erase(simgrid::s4u::this_actor::get_pid());
          return;
        }
    host_memory.give_back(memory);
  }

  static inline std::map<std::size_t, std::vector<Region>> regions_;
  static inline bool is_over_ = false;
};
}  // namespace nhalf::simulator
