// Scratch buffers for algorithms and packed data within a program.
#pragma once

#include <cstddef>
#include <cstdlib>

#include "contract/blocks.hpp"
#include "preloaded/of_thread.hpp"

namespace nhalf::coll {

/// The scratch buffers of a thread, for all communicators.
struct ScratchBuffers {
  Scratch work, packed_in, packed_out;

  static ScratchBuffers& of_thread() {
    auto* buffers = preloaded::OfThread<ScratchBuffers>::find();
    if (buffers == nullptr) buffers = create();
    is_used() = true;
    return *buffers;
  }

  /// Frees large buffers after an operation.
  static void tidy() {
    if (!is_used()) return;
    auto& buffers = of_thread();
    for (auto* buffer : {&buffers.work, &buffers.packed_in, &buffers.packed_out})
      buffer->give_back_above(kept_bytes);
    is_used() = false;
  }

 private:
  static constexpr std::size_t kept_bytes = std::size_t{1} << 24;

  static ScratchBuffers* create() {
    auto* buffers = new ScratchBuffers;
    preloaded::OfThread<ScratchBuffers>::keep(buffers, [](ScratchBuffers* ended) { delete ended; });
    return buffers;
  }

  static bool& is_used() {
    static constinit thread_local bool used = false;
    return used;
  }
};

/// Lets buffers take memory like the program's own library, without the limit and the first touch
/// of a benchmark.
inline void take_any_memory() {
  memory_source = {.take =
                       [](std::size_t size_bytes) {
                         return static_cast<std::byte*>(std::aligned_alloc(page_bytes, size_bytes));
                       },
                   .give_back = [](std::byte* memory) { std::free(memory); },
                   .is_limited = false};
}

/// Selects one of the scratch buffers.
using ScratchBuffer = Scratch ScratchBuffers::*;

}  // namespace nhalf::coll
