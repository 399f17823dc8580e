// nhalf-needs: MPI
#pragma once

#include "interposer/shared/reduce_scatter.hpp"
#include "interposer/vectors.hpp"

namespace nhalf::coll {

/// Routes a reduce-scatter. In place, `out` holds the blocks of all ranks, and its first becomes
/// the result.
template <class Library>
int reduce_scatter_block(const void* in, void* out, std::int64_t count, MPI_Datatype type,
                         MPI_Op operation, MPI_Comm comm, Library library) {
  if (is_own(Operation::reduce_scatter, comm, known_vector_bytes(count, type)))
    return pass_on(Operation::reduce_scatter, library);
  const Vector block{in, out, count, type, operation, comm};
  const Combining* combining = nullptr;
  const auto describe = [&](Communicator& on) -> std::optional<Call> {
    if (count <= 0) return std::nullopt;
    combining = &combining_of(operation, type);
    if (!combining->is_valid()) return std::nullopt;
    const auto block_bytes = static_cast<std::int64_t>(block.size_bytes(*combining));
    return Call{Operation::reduce_scatter, block_bytes, on.size(), combining};
  };
  const auto routed = [&](Communicator& on, int number) {
    const auto block_bytes = block.size_bytes(*combining);
    const auto from = block.from(block_bytes * static_cast<std::size_t>(on.size()));
    const auto to = block.to(block_bytes);
    if (number == way::shared_memory)
      return shared::reduce_scatter(*on.shared(), from, to, *combining);
    run_algorithm(algorithms::reduce_scatter::all<Messages>(), number, on, combining, from, to);
  };
  return route(Operation::reduce_scatter, comm, describe, library, routed);
}

}  // namespace nhalf::coll
