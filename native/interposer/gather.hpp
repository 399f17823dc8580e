// nhalf-needs: MPI
#pragma once

#include "interposer/route.hpp"
#include "interposer/shared/gather.hpp"

namespace nhalf::coll {

/// Routes a gather. The block size comes from the send arguments; at a root in place, from `out`.
template <class Library>
int gather(const void* in, std::int64_t in_count, MPI_Datatype in_type, void* out,
           std::int64_t out_count, MPI_Datatype out_type, int root, MPI_Comm comm,
           Library library) {
  const bool in_place = in == MPI_IN_PLACE;
  const auto block_size =
      in_place ? known_bytes(out_count, out_type) : known_bytes(in_count, in_type);
  if (is_own(Operation::gather, comm, block_size)) return pass_on(Operation::gather, library);
  const auto describe = [=](Communicator& on) -> std::optional<Call> {
    if (!is_rank(root, on)) return std::nullopt;
    const bool is_root = on.rank() == root;
    if (in_place && !is_root) return std::nullopt;
    if (is_root && !Data(out, out_count, out_type).is_valid()) return std::nullopt;
    const auto block = in_place ? Data(out, out_count, out_type) : Data(in, in_count, in_type);
    if (!block.is_valid()) return std::nullopt;
    return Call{Operation::gather, block.size_bytes(), on.size()};
  };
  const auto routed = [=](Communicator& on, int number) {
    const auto run = [&](ConstBytes from, Bytes to) {
      if (number == way::shared_memory) return shared::gather(*on.shared(), root, from, to);
      run_algorithm(algorithms::gather::all<Messages>(), number, on, nullptr, root, from, to);
    };
    if (on.rank() != root)
      return run(Data(in, in_count, in_type).bytes(&ScratchBuffers::packed_in, comm), {});
    const Data to(out, out_count, out_type);
    const auto from = in_place
                          ? to.bytes(&ScratchBuffers::packed_in, comm, root)
                          : Data(in, in_count, in_type).bytes(&ScratchBuffers::packed_in, comm);
    const auto target = to.target(&ScratchBuffers::packed_out, comm, on.size());
    run(from, target.bytes());
    target.unpack();
  };
  return route(Operation::gather, comm, describe, library, routed);
}

}  // namespace nhalf::coll
