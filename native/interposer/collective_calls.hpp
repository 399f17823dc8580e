// nhalf-needs: MPI
// The collective calls: checks of their arguments, then a call of `route`.
#pragma once

#include "interposer/route.hpp"

namespace nhalf::coll {

/// The arguments of a reduction; `in` may be MPI_IN_PLACE if the vector is in `out`.
struct Vector {
  const void* in;
  void* out;
  std::int64_t count;
  MPI_Datatype type;
  MPI_Op operation;
  MPI_Comm comm;

  [[nodiscard]] std::size_t size_bytes(const Combining& combining) const {
    return static_cast<std::size_t>(count) * combining.element_bytes();
  }
  [[nodiscard]] ConstBytes from(std::size_t vector_bytes) const {
    const auto* address = in == MPI_IN_PLACE ? out : in;
    return {static_cast<const std::byte*>(address), vector_bytes};
  }
  [[nodiscard]] Bytes to(std::size_t vector_bytes) const {
    return {static_cast<std::byte*>(out), vector_bytes};
  }
};

/// Returns `known_bytes` with the gaps between elements, which are sent as well.
[[gnu::always_inline]] inline KnownBytes known_vector_bytes(std::int64_t count, MPI_Datatype type) {
  if (count == 0) return 0;
  const Layout* layout = known_layout(type);
  if (layout == nullptr) return std::nullopt;
  return static_cast<std::uint64_t>(count * layout->extent_bytes);
}

/// Returns the quick answer for a reduction.
[[gnu::always_inline]] inline Quick quick_vector(Operation operation, std::int64_t count,
                                                 MPI_Datatype type, MPI_Op by, MPI_Comm comm) {
  const auto* combining = known_combining(by, type);
  return quick(operation, comm, known_vector_bytes(count, type), combining, combining != nullptr);
}

/// Accepts any arguments.
inline constexpr auto any_arguments = [](const Communicator&) { return true; };

/// Routes a reduction of vectors; `routed` gets the combination and both vectors as bytes. The
/// library judges arguments that `are_right(communicator)` rejects.
template <class Library, class Routed, class AreRight = decltype(any_arguments)>
int route_vector(Operation operation, const Vector& vector, Library library, Routed routed,
                 AreRight are_right = any_arguments) {
  const auto own =
      quick_vector(operation, vector.count, vector.type, vector.operation, vector.comm);
  if (own.is_own) return pass_on(operation, library, own.learner);
  const Combining* combining = nullptr;
  const auto describe = [&](Communicator& on) -> std::optional<Call> {
    if (vector.count < 0 || !are_right(on)) return std::nullopt;
    combining = &combining_of(vector.operation, vector.type);
    if (!combining->is_valid()) return std::nullopt;
    return Call{operation, static_cast<std::int64_t>(vector.size_bytes(*combining)), 1, combining};
  };
  const auto run = [&](Communicator& on, int number) {
    const auto vector_bytes = vector.size_bytes(*combining);
    routed(on, number, *combining, vector.from(vector_bytes), vector.to(vector_bytes));
  };
  return route(operation, vector.comm, describe, library, run);
}

template <class Library>
int barrier(MPI_Comm comm, Library library) {
  const auto own = quick(Operation::barrier, comm, 0);
  if (own.is_own) return pass_on(Operation::barrier, library, own.learner);
  return route(
      Operation::barrier, comm,
      [](Communicator&) { return std::optional(Call{Operation::barrier, 0}); }, library,
      [](Communicator& on, int number) {
        if (number == way::shared_memory) return on.shared()->barrier();
        if (number == way::hierarchical)
          return hierarchical::barrier(*on.shared(), *on.hierarchy());
        run_algorithm(algorithms::barrier::all<Messages>(), number, on, nullptr);
      });
}

template <class Library>
int bcast(void* buffer, std::int64_t count, MPI_Datatype type, int root, MPI_Comm comm,
          Library library) {
  const auto own = quick(Operation::bcast, comm, known_bytes(count, type));
  if (own.is_own) return pass_on(Operation::bcast, library, own.learner);
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
    } else if (number == way::single_copy) {
      single_copy::bcast(*on.peers(), root, target.bytes());
    } else if (number == way::hierarchical) {
      hierarchical::bcast(*on.shared(), *on.hierarchy(), root, target.bytes());
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
        if (number == way::single_copy)
          return single_copy::reduce(*on.peers(), work_buffer(), root, from, result, combine);
        run_algorithm(algorithms::reduce::all<Messages>(), number, on, &combine, root, from,
                      result);
      },
      [=](const Communicator& on) {
        return is_rank(root, on) && (in != MPI_IN_PLACE || on.rank() == root);
      });
}

template <class Library>
int allreduce(const void* in, void* out, std::int64_t count, MPI_Datatype type, MPI_Op operation,
              MPI_Comm comm, Library library) {
  return route_vector(
      Operation::allreduce, Vector{in, out, count, type, operation, comm}, library,
      [](Communicator& on, int number, const Combining& combine, ConstBytes from, Bytes to) {
        if (number == way::shared_memory) return shared::allreduce(*on.shared(), from, to, combine);
        if (number == way::single_copy)
          return single_copy::allreduce(*on.peers(), work_buffer(), from, to, combine);
        if (number == way::hierarchical)
          return hierarchical::allreduce(*on.shared(), *on.hierarchy(), from, to, combine);
        run_algorithm(algorithms::allreduce::all<Messages>(), number, on, &combine, from, to);
      });
}

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

/// Routes a reduce-scatter. In place, `out` holds the blocks of all ranks, and its first becomes
/// the result.
template <class Library>
int reduce_scatter(const void* in, void* out, std::int64_t count, MPI_Datatype type,
                   MPI_Op operation, MPI_Comm comm, Library library) {
  const auto own = quick_vector(Operation::reduce_scatter, count, type, operation, comm);
  if (own.is_own) return pass_on(Operation::reduce_scatter, library, own.learner);
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
    if (number == way::single_copy)
      return single_copy::reduce_scatter(*on.peers(), work_buffer(), from, to, *combining);
    run_algorithm(algorithms::reduce_scatter::all<Messages>(), number, on, combining, from, to);
  };
  return route(Operation::reduce_scatter, comm, describe, library, routed);
}

/// Routes a gather. The block size comes from the send arguments; at a root in place, from `out`.
template <class Library>
int gather(const void* in, std::int64_t in_count, MPI_Datatype in_type, void* out,
           std::int64_t out_count, MPI_Datatype out_type, int root, MPI_Comm comm,
           Library library) {
  const bool in_place = in == MPI_IN_PLACE;
  const auto block_size =
      in_place ? known_bytes(out_count, out_type) : known_bytes(in_count, in_type);
  const auto own = quick(Operation::gather, comm, block_size);
  if (own.is_own) return pass_on(Operation::gather, library, own.learner);
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
      if (number == way::single_copy) return single_copy::gather(*on.peers(), root, from, to);
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

/// Routes a scatter. The block size comes from the receive arguments; at a root in place, from
/// `in`.
template <class Library>
int scatter(const void* in, std::int64_t in_count, MPI_Datatype in_type, void* out,
            std::int64_t out_count, MPI_Datatype out_type, int root, MPI_Comm comm,
            Library library) {
  const bool in_place = out == MPI_IN_PLACE;
  const auto block_size =
      in_place ? known_bytes(in_count, in_type) : known_bytes(out_count, out_type);
  const auto own = quick(Operation::scatter, comm, block_size);
  if (own.is_own) return pass_on(Operation::scatter, library, own.learner);
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
      if (number == way::single_copy) return single_copy::scatter(*on.peers(), root, from, to);
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

template <class Library>
int allgather(const void* in, std::int64_t in_count, MPI_Datatype in_type, void* out,
              std::int64_t out_count, MPI_Datatype out_type, MPI_Comm comm, Library library) {
  const auto own = quick(Operation::allgather, comm, known_bytes(out_count, out_type));
  if (own.is_own) return pass_on(Operation::allgather, library, own.learner);
  const auto describe = [=](Communicator& on) -> std::optional<Call> {
    const Data to(out, out_count, out_type);
    if (!to.is_valid()) return std::nullopt;
    if (in != MPI_IN_PLACE && !Data(in, in_count, in_type).is_valid()) return std::nullopt;
    return Call{Operation::allgather, to.size_bytes(), on.size()};
  };
  const auto routed = [=](Communicator& on, int number) {
    const Data to(out, out_count, out_type);
    const bool is_own = in == MPI_IN_PLACE;
    const auto from = is_own ? to.bytes(&ScratchBuffers::packed_in, comm, on.rank())
                             : Data(in, in_count, in_type).bytes(&ScratchBuffers::packed_in, comm);
    const auto target = to.target(&ScratchBuffers::packed_out, comm, on.size());
    if (number == way::shared_memory) {
      shared::allgather(*on.shared(), from, target.bytes());
    } else if (number == way::single_copy) {
      single_copy::allgather(*on.peers(), from, target.bytes());
    } else {
      run_algorithm(algorithms::allgather::all<Messages>(), number, on, nullptr, from,
                    target.bytes());
    }
    target.unpack();
  };
  return route(Operation::allgather, comm, describe, library, routed);
}

template <class Library>
int alltoall(const void* in, std::int64_t in_count, MPI_Datatype in_type, void* out,
             std::int64_t out_count, MPI_Datatype out_type, MPI_Comm comm, Library library) {
  const auto own = quick(Operation::alltoall, comm, known_bytes(out_count, out_type));
  if (own.is_own) return pass_on(Operation::alltoall, library, own.learner);
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
    } else if (number == way::single_copy) {
      single_copy::alltoall(*on.peers(), work_buffer(), from, target.bytes());
    } else {
      run_algorithm(algorithms::alltoall::all<Messages>(), number, on, nullptr, from,
                    target.bytes());
    }
    target.unpack();
  };
  return route(Operation::alltoall, comm, describe, library, routed);
}

}  // namespace nhalf::coll
