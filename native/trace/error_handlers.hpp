// nhalf-needs: MPI
// Error handlers of the program run as often as without this library. If a program has its own
// handler, a call with wrong handles may return as if it had succeeded, and later queries about
// these handles must not reach the handler.
#pragma once

#include <atomic>

#include "calls/library.hpp"
#include "preloaded/mpi.hpp"

namespace nhalf::trace {

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

}  // namespace nhalf::trace
