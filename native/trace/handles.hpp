// A hash table by handle, with open addressing.
#pragma once

#include "calls/traits.hpp"
#include "trace/shared.hpp"

namespace nhalf::trace {
using calls::number_of;

template <class Value>
class Handles {
 public:
  /// Needs no lock: a thread that looks up a handle has put it, or got it from one that did.
  [[nodiscard]] bool is_empty() const { return used() == 0; }

  /// Returns the value of a handle; null if there is none.
  Value* find(std::uint64_t handle) {
    if (used() == 0) return nullptr;
    for (auto at = home(handle);; at = (at + 1) & mask()) {
      if (!places_[at].is_used) return nullptr;
      if (places_[at].handle == handle) return &places_[at].value;
    }
  }

  /// Sets the value of a handle; false beyond the memory budget.
  bool put(std::uint64_t handle, const Value& value) {
    if (Value* entry = find(handle)) {
      *entry = value;
      return true;
    }
    if ((used() + 1) * 2 > places_.size() && !enlarge()) return false;
    insert({true, handle, value});
    set_used(used() + 1);
    return true;
  }

  void erase(std::uint64_t handle) {
    Value* entry = find(handle);
    if (entry == nullptr) return;
    auto hole = home(handle);
    while (places_[hole].handle != handle || !places_[hole].is_used) hole = (hole + 1) & mask();
    // Later entries move into the hole, unless they would then precede their home.
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
  /// Requires the lock.
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
    // The old and the new table exist together for a moment.
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
