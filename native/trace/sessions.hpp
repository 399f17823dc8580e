// nhalf-needs: MPI
// Programs without MPI_Init (MPI 4.0, chapter 11.3): ranks are those in the process set of all
// processes.
#pragma once

#include "preloaded/entry.hpp"
#include "trace/process.hpp"

namespace nhalf::trace {
enum class OfSession { initialised, created, finalized };

inline int session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session* session) {
  auto* const then =
      calls::next<OfSession::initialised, decltype(PMPI_Session_init)>("MPI_Session_init");
  Process::get().prepare();
  const int error = then(info, handler, session);
  if (error == MPI_SUCCESS) Communicators::of_process().session_begins(*session);
  return error;
}

inline int comm_create_from_group(MPI_Group group, const char* tag, MPI_Info info,
                                  MPI_Errhandler handler, MPI_Comm* comm) {
  auto* const then = calls::next<OfSession::created, decltype(PMPI_Comm_create_from_group)>(
      "MPI_Comm_create_from_group");
  auto& process = Process::get();
  process.prepare();
  const Here here(NHALF_CALLER);
  const int error = then(group, tag, info, handler, comm);
  if (error == MPI_SUCCESS) {
    const bool was_traced = process.is_traced();
    process.begin_session(*comm);
    if (!was_traced && process.is_traced()) pthread_atfork(nullptr, nullptr, &Here::forget);
    if (process.is_traced()) Communicators::of_process().made(*comm);
  }
  return error;
}

inline int session_finalize(MPI_Session* session) {
  auto* const then =
      calls::next<OfSession::finalized, decltype(PMPI_Session_finalize)>("MPI_Session_finalize");
  if (session != nullptr) Communicators::of_process().session_ends(*session);
  Process::get().finish();
  const Here here(NHALF_CALLER);
  return then(session);
}
}  // namespace nhalf::trace

NHALF_ENTRY(MPI_Session_init, &nhalf::trace::session_init)
NHALF_ENTRY(MPI_Comm_create_from_group, &nhalf::trace::comm_create_from_group)
NHALF_ENTRY(MPI_Session_finalize, &nhalf::trace::session_finalize)
