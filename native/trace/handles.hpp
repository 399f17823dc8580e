// SPDX-License-Identifier: Apache-2.0
// What is known of a handle: a table with open addresses.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "trace/budget.hpp"

namespace nhalf::trace {

/// Handles as numbers, whatever they are.
template <class Handle>
std::uint64_t number_of(Handle handle) {
  if constexpr (sizeof(Handle) == sizeof(std::uint64_t))
    return std::bit_cast<std::uint64_t>(handle);
  else
    return std::bit_cast<std::uint32_t>(handle);
}

template <class Value>
class Handles {
 public:
  /// Without the lock, too: who looks for a handle has put it, or was told of it since.
  [[nodiscard]] bool is_empty() const { return used() == 0; }

  /// Null where nothing is known.
  Value* find(std::uint64_t handle) {
    if (used() == 0) return nullptr;
    for (auto at = home(handle);; at = (at + 1) & mask()) {
      if (!places_[at].is_used) return nullptr;
      if (places_[at].handle == handle) return &places_[at].value;
    }
  }

  /// Whether there was room for it.
  bool put(std::uint64_t handle, const Value& value) {
    if (Value* known = find(handle)) {
      *known = value;
      return true;
    }
    if ((used() + 1) * 2 > places_.size() && !enlarge()) return false;
    insert({true, handle, value});
    set_used(used() + 1);
    return true;
  }

  void erase(std::uint64_t handle) {
    Value* known = find(handle);
    if (known == nullptr) return;
    auto hole = home(handle);
    while (places_[hole].handle != handle || !places_[hole].is_used) hole = (hole + 1) & mask();
    // What follows moves up, unless it would then stand before its home.
    for (auto at = (hole + 1) & mask(); places_[at].is_used; at = (at + 1) & mask()) {
      const auto from_home = (at - home(places_[at].handle)) & mask();
      if (from_home < ((at - hole) & mask())) continue;
      places_[hole] = places_[at];
      hole = at;
    }
    places_[hole].is_used = false;
    set_used(used() - 1);
  }

 private:
  struct Place {
    bool is_used = false;
    std::uint64_t handle = 0;
    Value value{};
  };

  [[nodiscard]] std::uint64_t used() const { return used_.load(std::memory_order_relaxed); }
  /// Only where the lock is held.
  void set_used(std::uint64_t used) { used_.store(used, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t mask() const { return places_.size() - 1; }
  [[nodiscard]] std::uint64_t home(std::uint64_t handle) const {
    const auto mixed = handle * 0x9e3779b97f4a7c15U;
    return (mixed >> 32U) & mask();
  }

  void insert(Place place) {
    auto at = home(place.handle);
    while (places_[at].is_used) at = (at + 1) & mask();
    places_[at] = std::move(place);
  }

  bool enlarge() {
    const std::size_t places = places_.empty() ? 64 : places_.size() * 2;
    // Both are there for a moment.
    if (!take_memory(places * sizeof(Place))) return false;
    std::vector<Place> before(places);
    before.swap(places_);
    for (auto& place : before)
      if (place.is_used) insert(std::move(place));
    give_memory(before.size() * sizeof(Place));
    return true;
  }

  std::vector<Place> places_;
  std::atomic<std::uint64_t> used_{0};
};

}  // namespace nhalf::trace
