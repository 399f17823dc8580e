// nhalf-needs: MPI
// nhalf-links: -loshmem
// Messages by puts: OpenSHMEM has none of its own.
#pragma once

#include <shmem.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "contract/options.hpp"
#include "contract/transport.hpp"

namespace nhalf::shmem {

// Memory that lies at the same place in the symmetric heap of every rank.

/// Room in the heap, at the same place for all; called by all ranks. Throws InputError where there
/// is none.
inline std::byte* allocated(std::size_t size_bytes) {
  auto* const address = static_cast<std::byte*>(shmem_align(4096, size_bytes));
  if (address == nullptr)
    throw InputError("no " + std::to_string(size_bytes) +
                     " bytes left in the symmetric heap: set SHMEM_SYMMETRIC_SIZE");
  return address;
}

/// Zeros at first. All ranks make it together, and free it together: its end frees nothing.
class Symmetric {
 public:
  Symmetric() = default;
  /// Throws InputError if the heap is full.
  explicit Symmetric(std::size_t size_bytes)
      : data_(allocated(size_bytes + 4096)), size_bytes_(size_bytes) {
    std::memset(data_, 0, size_bytes);
    shmem_barrier_all();
  }

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] Bytes bytes() const { return {data_, size_bytes_}; }

  void free() {
    if (data_ != nullptr) shmem_free(data_);
    data_ = nullptr;
  }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_bytes_ = 0;
};

/// A ring of slots for every sender, in the memory of every receiver. The sender puts a piece into
/// a slot and then its number beside the ring; the receiver puts the number back once it has copied
/// the piece. Both sides know the size of a message.
class Channels {
 public:
  /// All ranks call it.
  Channels(int rank, int ranks)
      : rank_(rank),
        memory_(sizeof(Ring) * static_cast<std::size_t>(ranks)),
        sent_(static_cast<std::size_t>(ranks)),
        taken_(static_cast<std::size_t>(ranks)) {}

  /// Moves what can be moved now; whether the message is whole.
  bool push(int peer, ConstBytes& remaining, bool& first) {
    auto& sent = sent_[static_cast<std::size_t>(peer)];
    auto& theirs = ring(rank_);
    while (first || !remaining.empty()) {
      if (sent - seen(ring(peer).taken) == slots) return false;
      const auto piece = remaining.first(std::min(remaining.size(), slot_bytes));
      if (!piece.empty())
        shmem_putmem(theirs.pieces[sent % slots], piece.data(), piece.size(), peer);
      shmem_fence();
      shmem_uint64_p(&theirs.arrived, ++sent, peer);
      remaining = remaining.subspan(piece.size());
      first = false;
    }
    return true;
  }

  bool pull(int peer, Bytes& remaining, bool& first) {
    auto& taken = taken_[static_cast<std::size_t>(peer)];
    auto& mine = ring(peer);
    while (first || !remaining.empty()) {
      if (seen(mine.arrived) == taken) return false;
      const auto piece = remaining.first(std::min(remaining.size(), slot_bytes));
      if (!piece.empty()) std::memcpy(piece.data(), mine.pieces[taken % slots], piece.size());
      shmem_uint64_p(&ring(rank_).taken, ++taken, peer);
      remaining = remaining.subspan(piece.size());
      first = false;
    }
    return true;
  }

 private:
  static constexpr std::size_t slots = 8;
  static constexpr std::size_t slot_bytes = 8192;

  /// Pieces that one rank sends to this one, and how many of this one's pieces it has received.
  struct Ring {
    alignas(64) std::uint64_t arrived;
    alignas(64) std::uint64_t taken;
    alignas(64) std::byte pieces[slots][slot_bytes];
  };

  /// The ring of a sender, which lies at the same address in every receiver.
  [[nodiscard]] Ring& ring(int sender) const {
    return reinterpret_cast<Ring*>(memory_.data())[sender];
  }
  /// A number that another rank puts. Asking OpenSHMEM lets its own work go on.
  static std::uint64_t seen(std::uint64_t& number) {
    shmem_uint64_test(&number, SHMEM_CMP_NE, 0);
    return std::atomic_ref(number).load(std::memory_order_acquire);
  }

  int rank_;
  Symmetric memory_;
  std::vector<std::uint64_t> sent_, taken_;
};

}  // namespace nhalf::shmem
