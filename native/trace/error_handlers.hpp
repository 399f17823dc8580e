// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// Error handlers of the program run as often as without this library. Where a program has one of
// its own, a call with wrong handles may come back as if it had succeeded, and what is asked about
// these handles then must not reach the handler.
#pragma once

#include <atomic>

#include "preloaded/mpi.hpp"
#include "trace/library.hpp"

namespace nhalf::trace {

/// Set when the program makes its first error handler.
inline constinit std::atomic<bool> has_own_handlers{false};

/// A communicator returns its errors as long as this lives.
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

/// Asks the library something, without a word to the program's handlers: errors that belong to no
/// communicator go to that of MPI_COMM_WORLD, or since MPI 4.0 to that of MPI_COMM_SELF.
template <class Ask>
auto asked_quietly(Ask ask) {
  int is_initialized = 0;
  // Programs of sessions alone have neither of both.
  if (has_own_handlers.load(std::memory_order_relaxed))
    own<struct OfHandlers, decltype(PMPI_Initialized)>("PMPI_Initialized")(&is_initialized);
  if (is_initialized == 0) return ask();
  const Returning world(MPI_COMM_WORLD);
  const Returning self(MPI_COMM_SELF);
  return ask();
}

}  // namespace nhalf::trace
