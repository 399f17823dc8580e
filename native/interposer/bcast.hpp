// nhalf-needs: MPI
#pragma once

#include <cstdint>

#include "interposer/route.hpp"
#include "interposer/shared/bcast.hpp"

namespace nhalf::coll {

template <class Library>
int bcast(void* buffer, std::int64_t count, MPI_Datatype type, int root, MPI_Comm comm,
          Library library) {
  if (is_own(Operation::bcast, comm, known_bytes(count, type)))
    return pass_on(Operation::bcast, library);
  const auto describe = [=](Communicator& on) -> std::optional<Call> {
    const Data data(buffer, count, type);
    if (!is_rank(root, on) || !data.is_valid()) return std::nullopt;
    return Call{Operation::bcast, data.size_bytes()};
  };
  const auto routed = [=](Communicator& on, int number) {
    const Data data(buffer, count, type);
    const auto target = data.target(&ScratchBuffers::packed_out, comm);
    // A root with gaps packs into the same scratch buffer.
    if (on.rank() == root) static_cast<void>(data.bytes(&ScratchBuffers::packed_out, comm));
    if (number == way::shared_memory) {
      shared::bcast(*on.shared(), root, target.bytes());
    } else {
      const auto part_bytes =
          on.part_bytes(Operation::bcast, static_cast<std::uint64_t>(data.size_bytes()));
      run_in_parts(algorithms::bcast::all<Messages>(), number, on, part_bytes, root,
                   target.bytes());
    }
    if (on.rank() != root) target.unpack();
  };
  return route(Operation::bcast, comm, describe, library, routed);
}

}  // namespace nhalf::coll
