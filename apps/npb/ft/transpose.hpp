// nhalf-needs: MPI
// FT: every rank of a communicator sends every other one a block of the same size.
#pragma once

#include <cstddef>
#include <vector>

#include "apps/npb/mpi_world.hpp"

namespace nhalf::npb::ft {

inline void transpose(MpiWorld& world, MPI_Comm among, int ranks, const std::vector<double>& out,
                      std::vector<double>& in) {
  const auto count = static_cast<int>(out.size() / static_cast<std::size_t>(ranks));
  world.communicate(
      [&] { MPI_Alltoall(out.data(), count, MPI_DOUBLE, in.data(), count, MPI_DOUBLE, among); });
}

}  // namespace nhalf::npb::ft
