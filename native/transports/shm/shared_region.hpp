// nhalf-needs: MPI
// Memory that each rank exposes to the others, with its signals.
#pragma once

#include <cstddef>
#include <vector>

#include "contract/transport.hpp"
#include "transports/bases/mpi_control.hpp"
#include "transports/bases/watched_put.hpp"
#include "transports/shm/shared_segments.hpp"
#include "transports/shm/signals.hpp"

namespace nhalf {

/// Memory of `size_bytes` of every rank that the others put to; see OneSided and SignallingPuts.
class SharedRegion {
 public:
  SharedRegion(MpiControl& control, std::size_t size_bytes)
      : rank_(control.rank()),
        memory_at_(Signals::room_bytes(control.size())),
        memory_(control, memory_at_ + size_bytes),
        signals_(starts(control.size()), rank_) {}

  /// The memory is gone where all ranks have said so.
  void forget() { memory_ = {}; }

  [[nodiscard]] Bytes local() const { return of(rank_); }
  [[nodiscard]] Bytes of(int rank) const { return memory_.of(rank).subspan(memory_at_); }
  [[nodiscard]] Signals& signals() { return signals_; }

  void put(int peer, std::size_t offset, ConstBytes data) const {
    watched_put(of(peer), offset, data);
  }
  void put_and_signal(int peer, std::size_t offset, ConstBytes data, int slot) {
    if (signals_.raise_with_put(peer, data, offset, slot)) return;
    put(peer, offset, data);
    signals_.raise_in_turn(peer, slot);
  }

 private:
  [[nodiscard]] std::vector<std::byte*> starts(int ranks) const {
    std::vector<std::byte*> addresses;
    for (int rank = 0; rank < ranks; ++rank) addresses.push_back(memory_.of(rank).data());
    return addresses;
  }

  int rank_;
  std::size_t memory_at_;
  SharedSegments memory_;
  Signals signals_;
};

}  // namespace nhalf
