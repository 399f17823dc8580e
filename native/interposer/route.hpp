// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// What the operations share: the way that a call takes, which must be one on all ranks, and errors.
#pragma once

#include <climits>
#include <cstdint>
#include <new>
#include <optional>

#include "interposer/combining.hpp"
#include "interposer/communicator.hpp"
#include "interposer/counts.hpp"
#include "interposer/rooms.hpp"
#include "interposer/shared/parts.hpp"
#include "preloaded/mpi.hpp"

namespace nhalf::coll {

/// What is known of a call before its way is chosen; all of it is equal on all ranks.
struct Call {
  Operation operation;
  /// By which rules are searched: the message, the vector or one block.
  std::int64_t size_bytes;
  /// Blocks of that size which one message or slot may hold together.
  int blocks = 1;
  /// A reduction.
  const Combining* combining = nullptr;
};

/// Whether an algorithm may combine with an operation that does not commute.
inline bool keeps_order(Operation operation, int number) {
  return with_algorithms(operation, [&](const auto& algorithms) {
    return algorithms[static_cast<std::size_t>(number - way::first_algorithm)].info.keeps_order;
  });
}

/// Whether a way can be taken; where it cannot the library's own is.
inline bool is_possible(Communicator& on, const Call& call, int number) {
  if (call.size_bytes > INT_MAX / call.blocks) return false;
  if (number == way::shared_memory) {
    const auto element = call.combining == nullptr ? 1 : call.combining->element_bytes();
    return shared::part_bytes(element, call.blocks) > 0 && on.shared() != nullptr;
  }
  const bool keeps = call.combining == nullptr || call.combining->commutes() ||
                     keeps_order(call.operation, number);
  return keeps && on.messages() != nullptr;
}

/// The way of a call on a communicator whose operations may be routed. What all ranks can tell
/// without asking comes first: a call that is wrong on one rank only must not ask the others.
inline int choose(Communicator& on, const Call& call) {
  if (call.combining != nullptr && !call.combining->is_valid()) return way::native;
  if (call.operation != Operation::barrier && call.size_bytes <= 0) return way::native;
  const int number = on.ruled(call.operation, static_cast<std::uint64_t>(call.size_bytes));
  return number != way::native && is_possible(on, call, number) ? number : way::native;
}

/// Runs `routed` and tells the error handler what went wrong.
template <class Routed>
int carry_out(Communicator& on, int number, Routed routed) {
  int error = MPI_SUCCESS;
  try {
    routed(on, number);
    if (number >= way::first_algorithm) error = on.messages()->take_error();
  } catch (const std::bad_alloc&) {
    error = MPI_ERR_NO_MEM;
  }
  Rooms::tidy();
  if (error != MPI_SUCCESS) PMPI_Comm_call_errhandler(on.comm(), error);
  return error;
}

/// What no rule is about is the library's on all ranks.
template <class Library>
int pass_on(Operation operation, Library library) {
  Counts::of_process().add(operation, way::native);
  return library();
}

/// The bytes by which rules are searched, where they are known without looking at the type.
using KnownBytes = std::optional<std::uint64_t>;

[[gnu::always_inline]] inline KnownBytes known_bytes(std::int64_t count, MPI_Datatype type) {
  if (count == 0) return 0;
  const Layout* layout = known_layout(type);
  if (layout == nullptr) return std::nullopt;
  return static_cast<std::uint64_t>(count * layout->size_bytes);
}

/// Whether a call is the library's, as is seen before anything else is looked at: it moves nothing,
/// or no rule is about it. That takes some nanoseconds, for all that it needs is at hand.
[[gnu::always_inline]] inline bool is_own(Operation operation, MPI_Comm comm, KnownBytes known) {
  if (!known) return false;
  if (*known == 0 && operation != Operation::barrier) return true;
  const Communicator* on = Communicator::seen(comm);
  return on != nullptr && !on->may_route(operation, *known);
}

/// Calls `library()` or `routed(communicator, number)`. `describe(communicator)` gives the call;
/// none where its arguments are for the library to judge.
template <class Describe, class Library, class Routed>
[[gnu::noinline]] int route(Operation operation, MPI_Comm comm, Describe describe, Library library,
                            Routed routed) {
  Communicator* on = Communicator::of(comm);
  if (on == nullptr || !on->may_route(operation)) return pass_on(operation, library);
  try {
    const std::optional<Call> call = describe(*on);
    const int number = call ? choose(*on, *call) : way::native;
    Counts::of_process().add(operation, number);
    if (number != way::native) return carry_out(*on, number, routed);
  } catch (const Failed& failed) {
    // Ranks no longer agree on what comes next; what the library says of it is all there is.
    on->leave();
    return failed.error;
  }
  return library();
}

/// Runs an entry of a registry on messages.
template <class Algorithms, class... Arguments>
void run_algorithm(const Algorithms& algorithms, int number, Communicator& on,
                   const Combining* combining, Arguments... arguments) {
  Messages& messages = *on.messages();
  if (combining != nullptr) messages.combine_by(*combining);
  algorithms[static_cast<std::size_t>(number - way::first_algorithm)].run(
      messages, Rooms::of_thread().work, arguments...);
}

inline bool is_rank(int root, const Communicator& on) {
  return 0 <= root && root < on.size();
}

/// Data of one call: where it is and what of.
struct Data {
  const void* address;
  std::int64_t count;
  MPI_Datatype type;
  Layout layout;

  Data(const void* where, std::int64_t number, MPI_Datatype what)
      : address(where), count(number), type(what), layout(layout_of(what)) {}

  /// Data of predefined types that are nowhere are an error.
  [[nodiscard]] bool is_valid() const {
    return layout.is_valid && count >= 0 &&
           (address != nullptr || count == 0 || !layout.is_predefined);
  }
  [[nodiscard]] std::int64_t size_bytes() const { return count * layout.size_bytes; }
  [[nodiscard]] bool is_in_place() const { return address == MPI_IN_PLACE; }
  /// One of several blocks that follow each other.
  [[nodiscard]] const void* block(int number) const {
    return static_cast<const std::byte*>(address) + number * count * layout.extent_bytes;
  }
  /// As bytes without gaps, of `blocks` of them, from one on.
  [[nodiscard]] ConstBytes bytes(Room room, MPI_Comm comm, int first = 0, int blocks = 1) const {
    return packed(room, block(first), count * blocks, type, layout, comm);
  }
  [[nodiscard]] Unpacked room(Room room, MPI_Comm comm, int blocks = 1) const {
    return {room, const_cast<void*>(address), count * blocks, type, layout, comm};
  }
};

}  // namespace nhalf::coll
