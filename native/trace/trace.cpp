// Counts the calls of MPI that a program makes; this library is loaded before the program's own.
//
// A traced MPI_Send passes these files, in this order:
//
//   1. preloaded/jump.hpp, entry.hpp: the exported symbol MPI_Send jumps to the wrapper
//   2. ../calls/messages.inc: the row of MPI_Send, with its arguments and its role
//   3. wrapped.hpp: the macro NHALF_TRACED, which makes the wrapper `traced_Send` from that row
//   4. wrapped.hpp, process.hpp: take this thread's recorder, or pass over a call within a call;
//      then make the role, after the call if a handle is new
//   5. role_makers.hpp: `sent` looks up communicator (communicators.hpp) and bytes (types.hpp)
//   6. roles.hpp: `Counted` runs the call of the library between two readings of the clock
//   7. recorder.hpp: adds it to a cell (cells.hpp), a span of time (layout.hpp) and the timeline
//   8. layout.hpp: the file of the thread, which src/nhalf/measure/traced/layout.py reads
// One table of calls (calls/) makes every wrapper; those of calls that are not short are in
// shared_calls.cpp.
#include "calls/fortran.hpp"
#include "trace/wrapped.hpp"

#define NHALF_IS_SHORT(...) NHALF_TRACED(true, __VA_ARGS__)
#define NHALF_NOT_SHORT(...)

NHALF_PRELOADED("trace", "this program is not traced", )

namespace nhalf::trace {
namespace {
/// Calls of the library that are not in the table.
enum class Own { init, init_thread, finalize, create_errhandler, generalised, tool };

void begin(int thread_level) {
  Process::get().begin(thread_level);
  pthread_atfork(nullptr, nullptr, &Here::forget);
}
}  // namespace
}  // namespace nhalf::trace

#include "calls/wrapped.inc"

static int traced_Init(int* count, char*** words) {
  using namespace nhalf::trace;
  Process::get().prepare();
  const int error = next<Own::init, decltype(PMPI_Init)>("MPI_Init")(count, words);
  if (error == MPI_SUCCESS) begin(MPI_THREAD_SINGLE);
  return error;
}
NHALF_ENTRY(MPI_Init, &traced_Init)

static int traced_Init_thread(int* count, char*** words, int required, int* provided) {
  using namespace nhalf::trace;
  Process::get().prepare();
  const int error = next<Own::init_thread, decltype(PMPI_Init_thread)>("MPI_Init_thread")(
      count, words, required, provided);
  if (error == MPI_SUCCESS) begin(*provided);
  return error;
}
NHALF_ENTRY(MPI_Init_thread, &traced_Init_thread)

static int traced_Finalize() {
  using namespace nhalf::trace;
  const Here here(NHALF_CALLER);
  Recorder* const on = here.recorder();
  if (on != nullptr && Injection::is_on) Injection::of_process().enter(on->injected);
  if (on != nullptr) on->arrived(now());
  Process::get().finish();
  return next<Own::finalize, decltype(PMPI_Finalize)>("MPI_Finalize")();
}
NHALF_ENTRY(MPI_Finalize, &traced_Finalize)

static int traced_Comm_create_errhandler(MPI_Comm_errhandler_function* function,
                                         MPI_Errhandler* handler) {
  using namespace nhalf::trace;
  has_own_handlers = true;
  return next<Own::create_errhandler, decltype(PMPI_Comm_create_errhandler)>(
      "MPI_Comm_create_errhandler")(function, handler);
}
NHALF_ENTRY(MPI_Comm_create_errhandler, &traced_Comm_create_errhandler)

/// It may get the handle of a request that was tracked.
static int traced_Grequest_start(MPI_Grequest_query_function* query,
                                 MPI_Grequest_free_function* release,
                                 MPI_Grequest_cancel_function* cancel, void* state,
                                 MPI_Request* request) {
  using namespace nhalf::trace;
  const int error = next<Own::generalised, decltype(PMPI_Grequest_start)>("MPI_Grequest_start")(
      query, release, cancel, state, request);
  forget_namesake(error, request);
  return error;
}
NHALF_ENTRY(MPI_Grequest_start, &traced_Grequest_start)

static int traced_T_init_thread(int required, int* provided) {
  using namespace nhalf::trace;
  may_ask_library = false;
  return next<Own::tool, decltype(PMPI_T_init_thread)>("MPI_T_init_thread")(required, provided);
}
NHALF_ENTRY(MPI_T_init_thread, &traced_T_init_thread)

#if NHALF_HAS_MPI_4
#include "trace/sessions.hpp"
#endif
// They call those above.
#include "calls/profiled.hpp"
