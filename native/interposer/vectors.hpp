// nhalf-needs: MPI
// Routes reductions of vectors of consecutive elements, in place or not.
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

/// Accepts any arguments.
inline constexpr auto any_arguments = [](const Communicator&) { return true; };

/// Routes a reduction of vectors; `routed` gets the combination and both vectors as bytes. The
/// library judges arguments that `are_right(communicator)` rejects.
template <class Library, class Routed, class AreRight = decltype(any_arguments)>
int route_vector(Operation operation, const Vector& vector, Library library, Routed routed,
                 AreRight are_right = any_arguments) {
  const auto vector_size = known_vector_bytes(vector.count, vector.type);
  if (is_own(operation, vector.comm, vector_size)) return pass_on(operation, library);
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

}  // namespace nhalf::coll
