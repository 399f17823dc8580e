// SPDX-License-Identifier: Apache-2.0
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
#include <vector>

#include "contract/transport.hpp"
#include "transports/shmem/symmetric.hpp"

namespace nhalf::shmem {

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
  bool push(int peer, ConstBytes& rest, bool& first) {
    auto& sent = sent_[static_cast<std::size_t>(peer)];
    auto& theirs = ring(rank_);
    while (first || !rest.empty()) {
      if (sent - seen(ring(peer).taken) == slots) return false;
      const auto piece = rest.first(std::min(rest.size(), slot_bytes));
      if (!piece.empty())
        shmem_putmem(theirs.pieces[sent % slots], piece.data(), piece.size(), peer);
      shmem_fence();
      shmem_uint64_p(&theirs.arrived, ++sent, peer);
      rest = rest.subspan(piece.size());
      first = false;
    }
    return true;
  }

  bool pull(int peer, Bytes& rest, bool& first) {
    auto& taken = taken_[static_cast<std::size_t>(peer)];
    auto& mine = ring(peer);
    while (first || !rest.empty()) {
      if (seen(mine.arrived) == taken) return false;
      const auto piece = rest.first(std::min(rest.size(), slot_bytes));
      if (!piece.empty()) std::memcpy(piece.data(), mine.pieces[taken % slots], piece.size());
      shmem_uint64_p(&ring(rank_).taken, ++taken, peer);
      rest = rest.subspan(piece.size());
      first = false;
    }
    return true;
  }

 private:
  static constexpr std::size_t slots = 8;
  static constexpr std::size_t slot_bytes = 8192;

  /// What one rank sends to this one, and how much of what this one sent has been taken there.
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
