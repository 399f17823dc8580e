// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// What reductions share: vectors that lie as elements follow each other, in place or not.
#pragma once

#include "interposer/route.hpp"

namespace nhalf::coll {

/// The arguments of a reduction; `in` may be MPI_IN_PLACE where its vector lies in `out`.
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

/// What arguments say that are no rank's errors.
inline constexpr auto any_arguments = [](const Communicator&) { return true; };

/// Routes a reduction of vectors; `routed` gets what combines, and both vectors as bytes. Arguments
/// that `are_right(communicator)` denies are for the library to judge.
template <class Library, class Routed, class AreRight = decltype(any_arguments)>
int route_vector(Operation operation, const Vector& vector, Library library, Routed routed,
                 AreRight are_right = any_arguments) {
  if (vector.count == 0) return pass_on(operation, library);
  const Combining* combining = nullptr;
  const auto describe = [&](Communicator& on) -> std::optional<Call> {
    if (vector.count < 0 || !are_right(on)) return std::nullopt;
    combining = &combining_of(vector.operation, vector.type);
    if (!combining->is_valid()) return std::nullopt;
    return Call{operation, static_cast<std::int64_t>(vector.size_bytes(*combining)), 1, combining};
  };
  return route(operation, vector.comm, describe, library, [&](Communicator& on, int number) {
    const auto vector_bytes = vector.size_bytes(*combining);
    routed(on, number, *combining, vector.from(vector_bytes), vector.to(vector_bytes));
  });
}

}  // namespace nhalf::coll
