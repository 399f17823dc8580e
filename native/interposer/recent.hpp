// A small cache by handle, for the few handles that a thread uses in turn.
#pragma once

#include "contract/vocabulary.hpp"

namespace nhalf::coll {

/// A direct-mapped cache by handle; handles are small numbers or addresses.
template <class Entry>
class Recent {
 public:
  template <class Handle>
  Entry& place_of(Handle handle) {
    const auto number = (std::uintptr_t)handle;  // NOLINT: an integer or a pointer
    return entries_[(number ^ number >> 6U ^ number >> 9U) % entries_.size()];
  }

 private:
  std::array<Entry, 8> entries_{};
};

}  // namespace nhalf::coll
