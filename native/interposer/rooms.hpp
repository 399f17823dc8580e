// SPDX-License-Identifier: Apache-2.0
// Where algorithms and packed data have room inside of a program, whose memory it is.
#pragma once

#include <cstddef>
#include <cstdlib>

#include "contract/blocks.hpp"
#include "preloaded/of_thread.hpp"

namespace nhalf::coll {

/// One of each thread, for whatever communicators it uses.
struct Rooms {
  Scratch work, packed_in, packed_out;

  static Rooms& of_thread() {
    auto* rooms = preloaded::OfThread<Rooms>::find();
    if (rooms == nullptr) rooms = made();
    is_used() = true;
    return *rooms;
  }

  /// After an operation: what is large is the program's again.
  static void tidy() {
    if (!is_used()) return;
    auto& rooms = of_thread();
    for (auto* room : {&rooms.work, &rooms.packed_in, &rooms.packed_out})
      room->give_back_above(kept_bytes);
    is_used() = false;
  }

 private:
  static constexpr std::size_t kept_bytes = std::size_t{1} << 24;

  static Rooms* made() {
    auto* rooms = new Rooms;
    preloaded::OfThread<Rooms>::keep(rooms, [](Rooms* ended) { delete ended; });
    return rooms;
  }

  static bool& is_used() {
    static constinit thread_local bool used = false;
    return used;
  }
};

/// Takes as much memory as the program's own library would, without asking. A benchmark leaves most
/// of a host's memory alone, and writes its buffers before it measures.
inline void take_any_memory() {
  memory_source = {.take =
                       [](std::size_t size_bytes) {
                         return static_cast<std::byte*>(std::aligned_alloc(page_bytes, size_bytes));
                       },
                   .give_back = [](std::byte* memory) { std::free(memory); },
                   .is_limited = false};
}

/// Which one.
using Room = Scratch Rooms::*;

}  // namespace nhalf::coll
