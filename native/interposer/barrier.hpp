// nhalf-needs: MPI
#pragma once

#include "interposer/route.hpp"

namespace nhalf::coll {

inline int barrier(MPI_Comm comm) {
  const auto library = [=] { return PMPI_Barrier(comm); };
  if (is_own(Operation::barrier, comm, 0)) return pass_on(Operation::barrier, library);
  return route(
      Operation::barrier, comm,
      [](Communicator&) { return std::optional(Call{Operation::barrier, 0}); }, library,
      [](Communicator& on, int number) {
        if (number == way::shared_memory) return on.shared()->barrier();
        run_algorithm(algorithms::barrier::all<Messages>(), number, on, nullptr);
      });
}

}  // namespace nhalf::coll
