// nhalf-needs: MPI
#pragma once

#include "interposer/route.hpp"
#include "interposer/shared/scatter.hpp"

namespace nhalf::coll {

/// Routes a scatter. The block size comes from the receive arguments; at a root in place, from
/// `in`.
template <class Library>
int scatter(const void* in, std::int64_t in_count, MPI_Datatype in_type, void* out,
            std::int64_t out_count, MPI_Datatype out_type, int root, MPI_Comm comm,
            Library library) {
  const bool in_place = out == MPI_IN_PLACE;
  const auto block_size =
      in_place ? known_bytes(in_count, in_type) : known_bytes(out_count, out_type);
  if (is_own(Operation::scatter, comm, block_size)) return pass_on(Operation::scatter, library);
  const auto describe = [=](Communicator& on) -> std::optional<Call> {
    if (!is_rank(root, on)) return std::nullopt;
    const bool is_root = on.rank() == root;
    if (in_place && !is_root) return std::nullopt;
    if (is_root && !Data(in, in_count, in_type).is_valid()) return std::nullopt;
    const auto block = in_place ? Data(in, in_count, in_type) : Data(out, out_count, out_type);
    if (!block.is_valid()) return std::nullopt;
    return Call{Operation::scatter, block.size_bytes(), on.size()};
  };
  const auto routed = [=](Communicator& on, int number) {
    const auto run = [&](ConstBytes from, Bytes to) {
      if (number == way::shared_memory) return shared::scatter(*on.shared(), root, from, to);
      run_algorithm(algorithms::scatter::all<Messages>(), number, on, nullptr, root, from, to);
    };
    const auto from =
        on.rank() == root
            ? Data(in, in_count, in_type).bytes(&ScratchBuffers::packed_in, comm, 0, on.size())
            : ConstBytes();
    if (in_place) {
      const auto own = block_of(from, root, from.size() / static_cast<std::size_t>(on.size()));
      // The root's block stays where it is; nothing is written through this view.
      return run(from, {const_cast<std::byte*>(own.data()), own.size()});
    }
    const auto target = Data(out, out_count, out_type).target(&ScratchBuffers::packed_out, comm);
    run(from, target.bytes());
    target.unpack();
  };
  return route(Operation::scatter, comm, describe, library, routed);
}

}  // namespace nhalf::coll
