// nhalf-needs: MPI
#pragma once

#include "interposer/shared/scan.hpp"
#include "interposer/vectors.hpp"

namespace nhalf::coll {

template <class Library>
int scan(const void* in, void* out, std::int64_t count, MPI_Datatype type, MPI_Op operation,
         MPI_Comm comm, Library library) {
  return route_vector(
      Operation::scan, Vector{in, out, count, type, operation, comm}, library,
      [](Communicator& on, int number, const Combining& combine, ConstBytes from, Bytes to) {
        if (number == way::shared_memory) return shared::scan(*on.shared(), from, to, combine);
        run_algorithm(algorithms::scan::all<Messages>(), number, on, &combine, from, to);
      });
}

}  // namespace nhalf::coll
