// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// How ranks of one host come to share memory: all of them do, or none does.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>

#include "host/segment.hpp"
#include "interposer/allowance.hpp"
#include "interposer/crowd.hpp"
#include "interposer/shared_memory.hpp"

namespace nhalf::coll {

/// The memory that the ranks of a communicator share.
class CommonMemory {
 public:
  /// All ranks call it, and all are on one host. Throws Failed.
  CommonMemory(MPI_Comm comm, int rank, int ranks) {
    const auto lines_bytes = SharedMemory::size_bytes(ranks);
    const auto all_bytes = lines_bytes + Crowd::size_bytes(ranks);
    Segment::Address address;
    if (rank == 0) {
      segment_ = Segment::create(all_bytes);
      address = segment_.address();
    }
    succeed(PMPI_Bcast(&address, sizeof address, MPI_BYTE, 0, comm));
    if (rank != 0) segment_ = Segment::open(address, all_bytes);
    int mine = has_room(rank, lines_bytes, all_bytes) ? 1 : 0;
    Crowd crowd(mine != 0 ? segment_.data() + lines_bytes : nullptr, ranks);
    if (mine != 0) crowd.enter(rank);
    int all = 0;
    succeed(PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm));
    segment_.close_file();
    if (all == 0) {
      segment_ = Segment();
      allowance_ = Allowance();
      return;
    }
    lines_.emplace(segment_.data(), rank, ranks);
    if (crowd.is_crowded()) lines_->waiting.crowd();
  }

  /// Null where they share none.
  [[nodiscard]] SharedMemory* lines() { return lines_ ? &*lines_ : nullptr; }

 private:
  static void succeed(int error) {
    if (error != MPI_SUCCESS) throw Failed{error};
  }

  /// Every rank sets its own lines aside, rank 0 the rest, too.
  [[nodiscard]] bool has_room(int rank, std::size_t lines_bytes, std::size_t all_bytes) {
    return allowance_.take(sizeof(Lines)) &&
           segment_.reserve(SharedMemory::start_of(rank), sizeof(Lines)) &&
           (rank != 0 || segment_.reserve(lines_bytes, all_bytes - lines_bytes));
  }

  Allowance allowance_;
  Segment segment_;
  std::optional<SharedMemory> lines_;
};

}  // namespace nhalf::coll
