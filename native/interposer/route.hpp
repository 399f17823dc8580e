// nhalf-needs: MPI
// Chooses the way of a call, which has to be equal on all ranks, and reports errors.
#pragma once

#include <climits>
#include <new>

#include "interposer/communicator.hpp"

namespace nhalf::coll {

/// A call before its way is chosen; all members are equal on all ranks.
struct Call {
  Operation operation;
  /// Size by which rules are searched: of the message, the vector or one block.
  std::int64_t size_bytes;
  /// Number of blocks of that size that one message or slot may hold.
  int blocks = 1;
  /// The combination of a reduction; null for other operations.
  const Combining* combining = nullptr;
};

/// Whether an algorithm keeps the order of ranks, as operations that do not commute need.
inline bool keeps_order(Operation operation, int number) {
  return with_algorithms(operation, [&](const auto& algorithms) {
    return algorithms[static_cast<std::size_t>(number - way::first_algorithm)].info.keeps_order;
  });
}

/// Whether a way is possible for a call.
inline bool is_possible(Communicator& on, const Call& call, int number) {
  if (call.size_bytes > INT_MAX / call.blocks) return false;
  if (number < way::first_algorithm) {
    const auto element = call.combining == nullptr ? 1 : call.combining->element_bytes();
    if (!shared::fits_slot(element, call.blocks)) return false;
    if (number == way::single_copy) return on.peers() != nullptr;
    if (number != way::hierarchical) return on.shared() != nullptr;
    return on.hierarchy() != nullptr && on.hierarchy()->part_bytes(element) > 0;
  }
  const bool keeps = call.combining == nullptr || call.combining->commutes() ||
                     keeps_order(call.operation, number);
  return keeps && on.messages() != nullptr;
}

/// The way of a call, and what learns from it, if anything does.
struct Choice {
  int number = way::native;
  Contest* contest = nullptr;
};

/// Chooses the way of a call on a communicator whose operations may be routed. Local checks come
/// first: a call that is wrong on one rank only must not start communication.
inline Choice choose(Communicator& on, const Call& call) {
  if (call.combining != nullptr && !call.combining->is_valid()) return {};
  if (call.operation != Operation::barrier && call.size_bytes <= 0) return {};
  on.agree_once();
  const auto size_bytes = static_cast<std::uint64_t>(call.size_bytes);
  Choice choice;
  if (on.learns(call.combining)) {
    choice.contest = on.lessons().of(call.operation, size_bytes);
    const bool is_other = choice.contest != nullptr && choice.contest->in_charge().is_other();
    if (is_other) choice.number = choice.contest->way();
  } else {
    choice.number = on.ruled(call.operation, size_bytes);
  }
  if (choice.number != way::native && !is_possible(on, call, choice.number))
    choice.number = way::native;
  return choice;
}

/// Runs `routed` and calls the error handler on an error.
template <class Routed>
int carry_out(Communicator& on, int number, Routed routed) {
  int error = MPI_SUCCESS;
  try {
    // Streaming stores are a variant of shared memory.
    const shared::Streaming streaming(number == way::streaming ? on.shared() : nullptr);
    routed(on, number == way::streaming ? way::shared_memory : number);
    if (number >= way::first_algorithm) error = on.messages()->take_error();
  } catch (const std::bad_alloc&) {
    error = MPI_ERR_NO_MEM;
  }
  ScratchBuffers::tidy();
  if (error != MPI_SUCCESS) PMPI_Comm_call_errhandler(on.comm(), error);
  return error;
}

/// Passes a call to the library, on all ranks, and counts it for what learns. A call that fails may
/// have been wrong on one rank only, so it does not count.
template <class Library>
int pass_on(Operation operation, Library library, Learner* learner = nullptr) {
  Counts::of_process().add(operation, way::native);
  const int error = library();
  if (learner != nullptr && error == MPI_SUCCESS) learner->count();
  return error;
}

/// Runs a call that something learns from.
template <class Library, class Routed>
int learn(Communicator& on, Operation operation, const Choice& choice, Library library,
          Routed routed) {
  Learner& learner = choice.contest->in_charge();
  const bool may_warm_up = learner.may_warm_up();
  const std::int64_t pages_before = may_warm_up ? touched_pages() : 0;
  const double start_s = learner.is_timed() ? now_s() : 0;
  const int error = choice.number == way::native ? library() : carry_out(on, choice.number, routed);
  if (error != MPI_SUCCESS) return error;
  if (learner.is_timed()) on.note(learner, now_s() - start_s);
  if (may_warm_up) on.note_first_touches(learner, pages_before);
  if (learner.count()) on.advance(operation, *choice.contest);
  return error;
}

/// Size by which rules are searched, if it is known without a query of the type.
using KnownBytes = std::optional<std::uint64_t>;

[[gnu::always_inline]] inline KnownBytes known_bytes(std::int64_t count, MPI_Datatype type) {
  if (count == 0) return 0;
  const Layout* layout = known_layout(type);
  if (layout == nullptr) return std::nullopt;
  return static_cast<std::uint64_t>(count * layout->size_bytes);
}

/// The answer of a quick test whether a call is the library's, and what counts it if it is.
struct Quick {
  bool is_own = false;
  Learner* learner = nullptr;
};

/// Whether a call is the library's by a quick test: it moves nothing, no rule covers it, or what
/// learns passes it on. All data of the test are cached, so it takes some nanoseconds. `combining`
/// is null where nothing is combined, or where that is not cached.
[[gnu::always_inline]] inline Quick quick(Operation operation, MPI_Comm comm, KnownBytes known_size,
                                          const Combining* combining = nullptr,
                                          bool is_cached = true) {
  present_call.size_bytes = known_size.value_or(0);
  if (!known_size) return {};
  if (*known_size == 0 && operation != Operation::barrier) return {true};
  Communicator* on = Communicator::seen(comm);
  if (on == nullptr || (on->learns() && !is_cached)) return {};
  if (!on->learns() || !on->learns(combining)) return {!on->may_route(operation, *known_size)};
  Contest* contest = on->lessons().known(operation, *known_size);
  if (contest == nullptr) return {size_class_of(*known_size) >= size_classes};
  return {contest->in_charge().passes_on(), &contest->in_charge()};
}

/// Calls `library()` or `routed(communicator, number)`. `describe(communicator)` returns the call,
/// or nothing if the library has to judge its arguments.
template <class Describe, class Library, class Routed>
[[gnu::noinline]] int route(Operation operation, MPI_Comm comm, Describe describe, Library library,
                            Routed routed) {
  Communicator* on = Communicator::of(comm);
  if (on == nullptr || !on->may_route(operation)) return pass_on(operation, library);
  try {
    const std::optional<Call> call = describe(*on);
    if (call) present_call.size_bytes = static_cast<std::uint64_t>(call->size_bytes);
    const Choice choice = call ? choose(*on, *call) : Choice();
    Counts::of_process().add(operation, choice.number);
    if (choice.contest != nullptr) return learn(*on, operation, choice, library, routed);
    if (choice.number != way::native) return carry_out(*on, choice.number, routed);
  } catch (const Failed& failed) {
    // Ranks no longer agree on the way of the next operation, so the library takes all.
    on->leave();
    return failed.error;
  }
  return library();
}

/// Returns this thread's scratch buffer for algorithms.
inline Scratch& work_buffer() {
  return ScratchBuffers::of_thread().work;
}

/// Runs an algorithm of a registry on messages.
template <class Algorithms, class... Arguments>
void run_algorithm(const Algorithms& algorithms, int number, Communicator& on,
                   const Combining* combining, Arguments... arguments) {
  Messages& messages = *on.messages();
  if (combining != nullptr) messages.combine_by(*combining);
  algorithms[static_cast<std::size_t>(number - way::first_algorithm)].run(messages, work_buffer(),
                                                                          arguments...);
}

/// Runs an algorithm in parts of `part_bytes` if it cuts messages, else as it is.
template <class Algorithms, class... Arguments>
void run_in_parts(const Algorithms& algorithms, int number, Communicator& on,
                  std::size_t part_bytes, Arguments... arguments) {
  const auto& chosen = algorithms[static_cast<std::size_t>(number - way::first_algorithm)];
  if (part_bytes == default_part_bytes || chosen.run_in_parts == nullptr)
    return run_algorithm(algorithms, number, on, nullptr, arguments...);
  chosen.run_in_parts(*on.messages(), arguments..., part_bytes);
}

inline bool is_rank(int root, const Communicator& on) {
  return 0 <= root && root < on.size();
}

/// The data of one call: address, count and type.
struct Data {
  const void* address;
  std::int64_t count;
  MPI_Datatype type;
  Layout layout;

  Data(const void* data, std::int64_t number, MPI_Datatype element)
      : address(data), count(number), type(element), layout(layout_of(element)) {}

  /// Whether the library would accept the data; predefined types need an address.
  [[nodiscard]] bool is_valid() const {
    return layout.is_valid && count >= 0 &&
           (address != nullptr || count == 0 || !layout.is_predefined);
  }
  [[nodiscard]] std::int64_t size_bytes() const { return count * layout.size_bytes; }
  [[nodiscard]] bool is_in_place() const { return address == MPI_IN_PLACE; }
  /// Returns the address of one of several consecutive blocks.
  [[nodiscard]] const void* block(int number) const {
    return static_cast<const std::byte*>(address) + number * count * layout.extent_bytes;
  }
  /// Returns `blocks` blocks from `first` on as bytes without gaps.
  [[nodiscard]] ConstBytes bytes(ScratchBuffer scratch, MPI_Comm comm, int first = 0,
                                 int blocks = 1) const {
    return packed(scratch, block(first), count * blocks, type, layout, comm);
  }
  /// Returns a buffer that receives `blocks` blocks without gaps.
  [[nodiscard]] Unpacked target(ScratchBuffer scratch, MPI_Comm comm, int blocks = 1) const {
    return {scratch, const_cast<void*>(address), count * blocks, type, layout, comm};
  }
};

}  // namespace nhalf::coll
