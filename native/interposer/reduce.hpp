// nhalf-needs: MPI
#pragma once

#include "interposer/shared/reduce.hpp"
#include "interposer/vectors.hpp"

namespace nhalf::coll {

/// Routes a reduction. Only the root may be in place, and only its `out` is significant; the
/// library judges calls of other ranks in place.
template <class Library>
int reduce(const void* in, void* out, std::int64_t count, MPI_Datatype type, MPI_Op operation,
           int root, MPI_Comm comm, Library library) {
  return route_vector(
      Operation::reduce, Vector{in, out, count, type, operation, comm}, library,
      [=](Communicator& on, int number, const Combining& combine, ConstBytes from, Bytes to) {
        const Bytes result = on.rank() == root ? to : Bytes();
        if (number == way::shared_memory)
          return shared::reduce(*on.shared(), root, from, result, combine);
        run_algorithm(algorithms::reduce::all<Messages>(), number, on, &combine, root, from,
                      result);
      },
      [=](const Communicator& on) {
        return is_rank(root, on) && (in != MPI_IN_PLACE || on.rank() == root);
      });
}

}  // namespace nhalf::coll
