// Operations through shared memory that move data, with the arguments that algorithms on messages
// have (contract/collectives.hpp): every rank publishes its data, then reads what it needs. Data
// that exceed a slot go in parts.
#pragma once

#include "host/streaming_stores.hpp"
#include "interposer/shared_memory.hpp"

namespace nhalf::coll::shared {

/// Lets operations write what they take out of slots past the caches, as long as it lives; none do
/// so where `memory` is null. Nobody but this rank may read that before.
class Streaming {
 public:
  explicit Streaming(SharedMemory* memory) : memory_(memory) {
    if (memory_ != nullptr) memory_->is_streaming = true;
  }
  Streaming(const Streaming&) = delete;
  Streaming& operator=(const Streaming&) = delete;
  ~Streaming() {
    if (memory_ == nullptr) return;
    memory_->is_streaming = false;
    end_streaming_stores();
  }

 private:
  SharedMemory* memory_;
};

/// Copies data out of a slot.
inline void copy_out(const SharedMemory& memory, const std::byte* from, Bytes to) {
  if (memory.is_streaming) return copy_past_caches(to.data(), from, to.size());
  std::memcpy(to.data(), from, to.size());
}

/// Returns the largest multiple of an element of which a slot holds `blocks`; 0 if there is none.
constexpr std::size_t part_bytes(std::size_t element_bytes, int blocks) {
  const auto slot_bytes = Slot::size_bytes / static_cast<std::size_t>(blocks);
  return element_bytes == 0 ? 0 : slot_bytes / element_bytes * element_bytes;
}

/// Whether a slot holds an element of each of `blocks`; no division, since every call asks.
constexpr bool fits_slot(std::size_t element_bytes, int blocks) {
  return element_bytes > 0 && element_bytes * static_cast<std::size_t>(blocks) <= Slot::size_bytes;
}

/// Returns how many parts data go in.
constexpr std::size_t parts_of(std::size_t size_bytes, std::size_t part) {
  return (size_bytes + part - 1) / part;
}

/// Calls `action(at, size)` for consecutive parts of `size_bytes`.
template <class Action>
void for_parts(std::size_t size_bytes, std::size_t part, Action action) {
  for (std::size_t at = 0; at < size_bytes; at += part) action(at, std::min(part, size_bytes - at));
}

/// Publishes data. The line of the number is written last, since a rank that polls the number takes
/// that line away.
inline void give(SharedMemory& memory, Number number, ConstBytes data) {
  auto* slot = memory.slot_data(number);
  const auto beside = std::min(data.size(), Slot::beside_number_bytes);
  std::memcpy(slot + beside, data.data() + beside, data.size() - beside);
  if (beside < Slot::beside_number_bytes) {
    std::memcpy(slot, data.data(), beside);
  } else {
    std::memcpy(slot, data.data(), Slot::beside_number_bytes);
  }
  memory.give(number);
}

/// Publishes a part of each rank's block; of this rank's own only if `with_own`.
inline void give_blocks(SharedMemory& memory, Number number, ConstBytes blocks, std::size_t at,
                        std::size_t size_bytes, bool with_own) {
  const auto ranks = static_cast<std::size_t>(memory.size());
  const auto own = static_cast<std::size_t>(memory.rank());
  const auto block_bytes = blocks.size() / ranks;
  auto* slot = memory.slot_data(number);
  for (std::size_t i = 0; i < ranks; ++i)
    if (with_own || i != own)
      std::memcpy(slot + i * size_bytes, blocks.data() + i * block_bytes + at, size_bytes);
  memory.give(number);
}

/// Copies the parts of all other ranks, each to its block.
inline void take_others(SharedMemory& memory, Number number, std::size_t offset, Bytes out,
                        std::size_t at, std::size_t size_bytes) {
  const auto ranks = memory.size();
  const auto block_bytes = out.size() / static_cast<std::size_t>(ranks);
  for (int i = 0; i < ranks; ++i) {
    if (i == memory.rank()) continue;
    const auto to = block_of(out, i, block_bytes).subspan(at, size_bytes);
    copy_out(memory, memory.taken(i, number) + offset, to);
  }
}

inline void bcast(SharedMemory& memory, int root, Bytes data) {
  for_parts(data.size(), Slot::size_bytes, [&](std::size_t at, std::size_t size_bytes) {
    const auto part = data.subspan(at, size_bytes);
    const auto number = memory.begin();
    if (memory.rank() == root) {
      give(memory, number, part);
    } else {
      copy_out(memory, memory.taken(root, number), part);
    }
    memory.end(number);
  });
}

inline void gather(SharedMemory& memory, int root, ConstBytes in, Bytes out) {
  const bool is_root = memory.rank() == root;
  for_parts(in.size(), Slot::size_bytes, [&](std::size_t at, std::size_t size_bytes) {
    const auto number = memory.begin();
    if (is_root) {
      place(in.subspan(at, size_bytes), block_of(out, root, in.size()).subspan(at, size_bytes));
      take_others(memory, number, 0, out, at, size_bytes);
    } else {
      give(memory, number, in.subspan(at, size_bytes));
    }
    memory.end(number);
  });
}

inline void scatter(SharedMemory& memory, int root, ConstBytes in, Bytes out) {
  const auto own = static_cast<std::size_t>(memory.rank());
  for_parts(out.size(), part_bytes(1, memory.size()), [&](std::size_t at, std::size_t size_bytes) {
    const auto number = memory.begin();
    if (memory.rank() == root) {
      give_blocks(memory, number, in, at, size_bytes, false);
      place(block_of(in, memory.rank(), out.size()).subspan(at, size_bytes),
            out.subspan(at, size_bytes));
    } else {
      copy_out(memory, memory.taken(root, number) + own * size_bytes, out.subspan(at, size_bytes));
    }
    memory.end(number);
  });
}

inline void allgather(SharedMemory& memory, ConstBytes in, Bytes out) {
  place(in, block_of(out, memory.rank(), in.size()));
  for_parts(in.size(), Slot::size_bytes, [&](std::size_t at, std::size_t size_bytes) {
    const auto number = memory.begin();
    give(memory, number, in.subspan(at, size_bytes));
    take_others(memory, number, 0, out, at, size_bytes);
    memory.end_of_all(number);
  });
}

inline void alltoall(SharedMemory& memory, ConstBytes in, Bytes out) {
  const auto block_bytes = in.size() / static_cast<std::size_t>(memory.size());
  const auto own = static_cast<std::size_t>(memory.rank());
  place(block_of(in, memory.rank(), block_bytes), block_of(out, memory.rank(), block_bytes));
  for_parts(block_bytes, part_bytes(1, memory.size()), [&](std::size_t at, std::size_t size_bytes) {
    const auto number = memory.begin();
    give_blocks(memory, number, in, at, size_bytes, false);
    take_others(memory, number, own * size_bytes, out, at, size_bytes);
    memory.end_of_all(number);
  });
}

}  // namespace nhalf::coll::shared
