// nhalf-needs: MPI
// Sets up memory that ranks of one host share: all of them, or none.
#pragma once

#include <cstddef>
#include <optional>

#include "host/segment.hpp"
#include "interposer/memory_budget.hpp"
#include "interposer/shared_memory.hpp"
#include "preloaded/mpi.hpp"

namespace nhalf::coll {

/// Shared memory of the ranks of a communicator.
class CommonMemory {
 public:
  /// Collective, among ranks of one host. Throws Failed.
  CommonMemory(MPI_Comm comm, int rank, int ranks) {
    const auto all_bytes = SharedMemory::size_bytes(ranks);
    Segment::Address address;
    if (rank == 0) {
      segment_ = Segment::create(all_bytes);
      address = segment_.address();
    }
    succeed(PMPI_Bcast(&address, sizeof address, MPI_BYTE, 0, comm));
    if (rank != 0) segment_ = Segment::open(address, all_bytes);
    int has_own = reserve_own(rank) ? 1 : 0;
    int have_all = 0;
    succeed(PMPI_Allreduce(&has_own, &have_all, 1, MPI_INT, MPI_MIN, comm));
    segment_.close_file();
    if (have_all == 0) {
      segment_ = Segment();
      budget_ = MemoryBudget();
      return;
    }
    lines_.emplace(segment_.data(), rank, ranks);
  }

  /// Returns the shared memory; null if the ranks share none.
  [[nodiscard]] SharedMemory* lines() { return lines_ ? &*lines_ : nullptr; }

 private:
  static void succeed(int error) {
    if (error != MPI_SUCCESS) throw Failed{error};
  }

  /// Reserves this rank's own lines.
  [[nodiscard]] bool reserve_own(int rank) {
    return budget_.take(sizeof(Lines)) &&
           segment_.reserve(SharedMemory::start_of(rank), sizeof(Lines));
  }

  MemoryBudget budget_;
  Segment segment_;
  std::optional<SharedMemory> lines_;
};

}  // namespace nhalf::coll
