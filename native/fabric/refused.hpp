// nhalf-needs: MPI
// Calls that cannot be served in virtual time: their library waits outside the network for ever.
#pragma once

#include "calls/library.hpp"
#include "fabric/interface.hpp"
#include "preloaded/entry.hpp"
#include "preloaded/mpi.hpp"

namespace nhalf::fabric {

/// Calls that are refused, to tell their types apart.
enum class Refused { spawn, spawn_multiple, accept, connect, join };

/// Ends a run on the network at a call; the call itself is made by other processes only.
template <auto call, class Function, class... Arguments>
int refuse(const char* name, const char* reason, Arguments... arguments) {
  if (const Interface* const net = network(); net != nullptr) net->stop("unsupported", reason);
  return calls::next<call, Function>(name)(arguments...);
}

}  // namespace nhalf::fabric

#define NHALF_REFUSED(name, call, reason, parameters, ...)                                   \
  static int refused_##name parameters {                                                     \
    using nhalf::fabric::Refused;                                                            \
    return nhalf::fabric::refuse<Refused::call, decltype(PMPI_##name)>("MPI_" #name, reason, \
                                                                       __VA_ARGS__);         \
  }                                                                                          \
  NHALF_ENTRY(MPI_##name, &refused_##name)

NHALF_REFUSED(Comm_spawn, spawn, "MPI_Comm_spawn is not supported",
              (const char* command, char* words[], int count, MPI_Info info, int root,
               MPI_Comm comm, MPI_Comm* result, int errors[]),
              command, words, count, info, root, comm, result, errors)
NHALF_REFUSED(Comm_spawn_multiple, spawn_multiple, "MPI_Comm_spawn_multiple is not supported",
              (int number, char* commands[], char** words[], const int counts[],
               const MPI_Info infos[], int root, MPI_Comm comm, MPI_Comm* result, int errors[]),
              number, commands, words, counts, infos, root, comm, result, errors)
NHALF_REFUSED(Comm_accept, accept, "MPI_Comm_accept is not supported",
              (const char* port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* result), port,
              info, root, comm, result)
NHALF_REFUSED(Comm_connect, connect, "MPI_Comm_connect is not supported",
              (const char* port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* result), port,
              info, root, comm, result)
NHALF_REFUSED(Comm_join, join, "MPI_Comm_join is not supported", (int file, MPI_Comm* result), file,
              result)
