// nhalf-needs: MPI
// Sizes of datatypes, and the error handlers of the program. Predefined types are cached, since
// they are never freed.
#pragma once

#include "calls/names.hpp"
#include "trace/handles.hpp"

namespace nhalf::trace {
// Error handlers of the program run as often as without this library. If a program has its own
// handler, a call with wrong handles may return as if it had succeeded, and later queries about
// these handles must not reach the handler.

/// Set when the program makes its first error handler.
inline constinit std::atomic<bool> has_own_handlers{false};

/// Makes a communicator return its errors during its lifetime.
class Returning {
 public:
  explicit Returning(MPI_Comm comm) : comm_(comm) {
    NHALF_OWN(Comm_get_errhandler)(comm_, &before_);
    NHALF_OWN(Comm_set_errhandler)(comm_, MPI_ERRORS_RETURN);
  }
  ~Returning() {
    NHALF_OWN(Comm_set_errhandler)(comm_, before_);
    if (!is_predefined()) NHALF_OWN(Errhandler_free)(&before_);
  }
  Returning(const Returning&) = delete;
  Returning& operator=(const Returning&) = delete;

 private:
  [[nodiscard]] bool is_predefined() const {
#if defined(MPI_ERRORS_ABORT)
    if (before_ == MPI_ERRORS_ABORT) return true;
#endif
    return before_ == MPI_ERRORS_RETURN || before_ == MPI_ERRORS_ARE_FATAL;
  }

  MPI_Comm comm_;
  MPI_Errhandler before_{};
};

/// Queries the library without calling the program's handlers: errors that belong to no
/// communicator go to the handler of MPI_COMM_WORLD, since MPI 4.0 to that of MPI_COMM_SELF.
template <class Ask>
auto asked_quietly(Ask ask) {
  int is_initialized = 0;
  // Programs with sessions only have neither communicator.
  if (has_own_handlers.load(std::memory_order_relaxed))
    calls::own<struct OfHandlers, decltype(PMPI_Initialized)>("PMPI_Initialized")(&is_initialized);
  if (is_initialized == 0) return ask();
  const Returning world(MPI_COMM_WORLD);
  const Returning self(MPI_COMM_SELF);
  return ask();
}

class TypeSizes {
 public:
  /// Returns the cached size; null if the library has to be queried.
  [[gnu::always_inline]] const std::uint64_t* find(MPI_Datatype type) const {
    const auto handle = number_of(type);
    const Entry& entry = entries_[place(handle)];
    return entry.handle == handle ? &entry.size_bytes : nullptr;
  }

  /// Queries the library about a valid type.
  [[gnu::noinline]] std::uint64_t asked(MPI_Datatype type) {
    const auto handle = number_of(type);
    int integers = 0;
    int addresses = 0;
    int types = 0;
    int combiner = MPI_COMBINER_CONTIGUOUS;
    MPI_Count size_bytes = 0;
    const int error = asked_quietly([&] { return NHALF_OWN(Type_size_x)(type, &size_bytes); });
    if (error != MPI_SUCCESS || size_bytes < 0) return 0;
    NHALF_OWN(Type_get_envelope)(type, &integers, &addresses, &types, &combiner);
    const auto size = static_cast<std::uint64_t>(size_bytes);
    if (combiner == MPI_COMBINER_NAMED) entries_[place(handle)] = {handle, size};
    return size;
  }

 private:
  struct Entry {
    std::uint64_t handle = ~std::uint64_t{0};
    std::uint64_t size_bytes = 0;
  };
  static constexpr unsigned places_log2 = 6;

  static std::size_t place(std::uint64_t handle) {
    return (handle * 0x9e3779b97f4a7c15U) >> (64U - places_log2);
  }

  std::array<Entry, 1U << places_log2> entries_{};
};
}  // namespace nhalf::trace
