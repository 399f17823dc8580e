// nhalf-needs: MPI
// Messages between ranks by nothing but puts into windows.
#pragma once

#include <atomic>

#include "transports/bases/pending_messages.hpp"
#include "transports/rma/accesses.hpp"

namespace nhalf {
/// In each rank's memory lie, for each other one, a ring of slots that this one fills, how many
/// pieces it has put there, and how many it has taken of those put to it. A piece is complete at
/// its rank before its number is put.
class RmaChannels {
 public:
  RmaChannels(int rank, int ranks)
      : rank_(rank),
        window_(sizeof(Channel) * static_cast<std::size_t>(ranks), WindowKind::create),
        states_(static_cast<std::size_t>(ranks)) {
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window_.handle());
  }
  RmaChannels(const RmaChannels&) = delete;
  RmaChannels& operator=(const RmaChannels&) = delete;
  /// A rank that ends in disorder has nobody to free the window with.
  ~RmaChannels() {
    if (std::uncaught_exceptions() > 0) return;
    MPI_Win_unlock_all(window_.handle());
    window_.close();
  }

  /// Moves what can be moved now; whether the message is whole.
  bool push(int peer, ConstBytes& remaining, bool& first) {
    auto& written = states_[static_cast<std::size_t>(peer)].written;
    return move_pieces(remaining, first, slot_bytes, [&](ConstBytes piece) {
      if (written - counter(peer, taken_at) == slots) return waits();
      put(peer, ring_at + written % slots * slot_bytes, piece);
      MPI_Win_flush(peer, window_.handle());
      put_number(peer, written_at, ++written);
      return true;
    });
  }
  bool pull(int peer, Bytes& remaining, bool& first) {
    auto& taken = states_[static_cast<std::size_t>(peer)].taken;
    return move_pieces(remaining, first, slot_bytes, [&](Bytes piece) {
      if (counter(peer, written_at) == taken) return waits();
      const auto* slot = channel(peer).data() + ring_at + taken % slots * slot_bytes;
      if (!piece.empty()) std::memcpy(piece.data(), slot, piece.size());
      put_number(peer, taken_at, ++taken);
      return true;
    });
  }

 private:
  static constexpr std::size_t slots = 4;
  static constexpr std::size_t slot_bytes = 8192;
  static constexpr std::size_t written_at = 0;
  static constexpr std::size_t taken_at = 64;
  static constexpr std::size_t ring_at = 128;
  struct Channel {
    std::byte bytes[ring_at + slots * slot_bytes];
  };
  /// Number of pieces that this rank has put to a peer and received from it.
  struct State {
    std::uint64_t written = 0;
    std::uint64_t taken = 0;
    /// Puts read it when they are completed.
    std::uint64_t number = 0;
  };

  /// The part of this rank's memory that another one writes.
  [[nodiscard]] Bytes channel(int peer) const {
    return window_.local().subspan(sizeof(Channel) * static_cast<std::size_t>(peer),
                                   sizeof(Channel));
  }
  [[nodiscard]] std::uint64_t counter(int peer, std::size_t at) const {
    auto* place = channel(peer).data() + at;
    return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(place))
        .load(std::memory_order_acquire);
  }
  void put(int peer, std::size_t at, ConstBytes data) const {
    const int count = static_cast<int>(data.size());
    const auto place = sizeof(Channel) * static_cast<std::size_t>(rank_) + at;
    MPI_Put(data.data(), count, MPI_BYTE, peer, window_.place(peer, place), count, MPI_BYTE,
            window_.handle());
  }
  void put_number(int peer, std::size_t at, std::uint64_t value) {
    auto& number = states_[static_cast<std::size_t>(peer)].number;
    number = value;
    put(peer, at, std::as_bytes(std::span(&number, 1)));
    MPI_Win_flush(peer, window_.handle());
  }
  /// Called when nothing can be moved: the library may have to make progress on puts of other
  /// ranks.
  [[nodiscard]] bool waits() const {
    int is_pending = 0;
    MPI_Win_sync(window_.handle());
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &is_pending, MPI_STATUS_IGNORE);
    return false;
  }

  int rank_;
  MpiWindow window_;
  std::vector<State> states_;
};
}  // namespace nhalf
