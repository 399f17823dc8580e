// SPDX-License-Identifier: Apache-2.0
// The calls of MPI that a program makes, counted where this library is loaded before its own.
// One table of prototypes (calls/) makes every wrapper.
#include <mpi.h>
#include <pthread.h>

#include "trace/aims.hpp"
#include "trace/fortran.hpp"
#include "trace/here.hpp"
#include "trace/keeping.hpp"
#include "trace/library.hpp"
#include "trace/process.hpp"

#define NHALF_TRACED(name, self_, parameters, arguments, ...)                            \
  int MPI_##name parameters {                                                            \
    using namespace nhalf::trace;                                                        \
    constexpr Call self = Call::self_;                                                   \
    auto* const then = next<self, decltype(PMPI_##name)>("MPI_" #name);                  \
    Recorder* const here = Here::enter();                                                \
    if (here == nullptr) [[unlikely]]                                                    \
      return then arguments;                                                             \
    Recorder& on = *here;                                                                \
    const int error = (__VA_ARGS__).template carry_out<can_wait(self)>(on, self, [&]() { \
      return then arguments;                                                             \
    });                                                                                  \
    Here::leave(on);                                                                     \
    return error;                                                                        \
  }

namespace nhalf::trace {
namespace {

void begin(int thread_level) {
  Process::get().begin(thread_level);
  pthread_atfork(nullptr, nullptr, &Here::forget);
}

}  // namespace
}  // namespace nhalf::trace

#pragma GCC visibility push(default)
extern "C" {

#define NHALF_COUNT int
#define NHALF_PLACE int
#define NHALF_CALL(name, lower, parameters, arguments, ...) \
  NHALF_TRACED(name, name, parameters, arguments, __VA_ARGS__)
#include "trace/calls/all.inc"
#undef NHALF_CALL
#undef NHALF_COUNT
#undef NHALF_PLACE

#if MPI_VERSION >= 4
#define NHALF_COUNT MPI_Count
#define NHALF_PLACE MPI_Aint
#define NHALF_CALL(name, lower, parameters, arguments, ...) \
  NHALF_TRACED(name##_c, name, parameters, arguments, __VA_ARGS__)
#include "trace/calls/counted.inc"
#undef NHALF_CALL
#undef NHALF_COUNT
#undef NHALF_PLACE
#endif

int MPI_Init(int* count, char*** words) {
  using namespace nhalf::trace;
  auto& process = Process::get();
  process.prepare();
  const int error = reinterpret_cast<decltype(&PMPI_Init)>(behind("MPI_Init"))(count, words);
  if (error == MPI_SUCCESS) begin(MPI_THREAD_SINGLE);
  return error;
}

int MPI_Init_thread(int* count, char*** words, int required, int* provided) {
  using namespace nhalf::trace;
  auto& process = Process::get();
  process.prepare();
  const int error = reinterpret_cast<decltype(&PMPI_Init_thread)>(behind("MPI_Init_thread"))(
      count, words, required, provided);
  if (error == MPI_SUCCESS) begin(*provided);
  return error;
}

int MPI_Finalize() {
  using namespace nhalf::trace;
  Process::get().finish();
  Recorder* const here = Here::enter();
  const int error = reinterpret_cast<decltype(&PMPI_Finalize)>(behind("MPI_Finalize"))();
  if (here != nullptr) Here::leave(*here);
  return error;
}

}  // extern "C"
#pragma GCC visibility pop

// They call those above.
#include "trace/profiled.hpp"
