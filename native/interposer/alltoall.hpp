// nhalf-needs: MPI
#pragma once

#include "interposer/route.hpp"
#include "interposer/shared/alltoall.hpp"

namespace nhalf::coll {

template <class Library>
int alltoall(const void* in, std::int64_t in_count, MPI_Datatype in_type, void* out,
             std::int64_t out_count, MPI_Datatype out_type, MPI_Comm comm, Library library) {
  if (is_own(Operation::alltoall, comm, known_bytes(out_count, out_type)))
    return pass_on(Operation::alltoall, library);
  const auto describe = [=](Communicator& on) -> std::optional<Call> {
    const Data to(out, out_count, out_type);
    if (!to.is_valid()) return std::nullopt;
    if (in != MPI_IN_PLACE && !Data(in, in_count, in_type).is_valid()) return std::nullopt;
    return Call{Operation::alltoall, to.size_bytes(), on.size()};
  };
  const auto routed = [=](Communicator& on, int number) {
    const Data to(out, out_count, out_type);
    const bool is_own = in == MPI_IN_PLACE;
    const auto from =
        is_own ? to.bytes(&ScratchBuffers::packed_in, comm, 0, on.size())
               : Data(in, in_count, in_type).bytes(&ScratchBuffers::packed_in, comm, 0, on.size());
    const auto target = to.target(&ScratchBuffers::packed_out, comm, on.size());
    if (number == way::shared_memory) {
      shared::alltoall(*on.shared(), from, target.bytes());
    } else {
      run_algorithm(algorithms::alltoall::all<Messages>(), number, on, nullptr, from,
                    target.bytes());
    }
    target.unpack();
  };
  return route(Operation::alltoall, comm, describe, library, routed);
}

}  // namespace nhalf::coll
