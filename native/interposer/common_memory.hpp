// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// How ranks of one host come to share memory: all of them do, or none does.
#pragma once

#include <cstddef>
#include <optional>

#include "host/segment.hpp"
#include "interposer/allowance.hpp"
#include "interposer/shared_memory.hpp"
#include "preloaded/mpi.hpp"

namespace nhalf::coll {

/// The memory that the ranks of a communicator share.
class CommonMemory {
 public:
  /// All ranks call it, and all are on one host. Throws Failed.
  CommonMemory(MPI_Comm comm, int rank, int ranks) {
    const auto all_bytes = SharedMemory::size_bytes(ranks);
    Segment::Address address;
    if (rank == 0) {
      segment_ = Segment::create(all_bytes);
      address = segment_.address();
    }
    succeed(PMPI_Bcast(&address, sizeof address, MPI_BYTE, 0, comm));
    if (rank != 0) segment_ = Segment::open(address, all_bytes);
    int mine = has_room(rank) ? 1 : 0;
    int all = 0;
    succeed(PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm));
    segment_.close_file();
    if (all == 0) {
      segment_ = Segment();
      allowance_ = Allowance();
      return;
    }
    lines_.emplace(segment_.data(), rank, ranks);
  }

  /// Null where they share none.
  [[nodiscard]] SharedMemory* lines() { return lines_ ? &*lines_ : nullptr; }

 private:
  static void succeed(int error) {
    if (error != MPI_SUCCESS) throw Failed{error};
  }

  /// Every rank sets its own lines aside.
  [[nodiscard]] bool has_room(int rank) {
    return allowance_.take(sizeof(Lines)) &&
           segment_.reserve(SharedMemory::start_of(rank), sizeof(Lines));
  }

  Allowance allowance_;
  Segment segment_;
  std::optional<SharedMemory> lines_;
};

}  // namespace nhalf::coll
