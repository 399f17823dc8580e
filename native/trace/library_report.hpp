// nhalf-needs: MPI
// What the library of a traced program says of itself (MPI_T), asked once, after all that counts.
#pragma once

#include "preloaded/library.hpp"
#include "probe/json.hpp"
#include "trace/metadata.hpp"
#include "transports/mpi/tool.hpp"

namespace nhalf::trace {
/// Whether the library is asked. A program that uses the interface has it for itself: it may rely
/// on being the only one.
inline std::atomic<bool> may_ask_library{true};

/// Writes what the library says to the process's file, once. No session of the interface stays
/// open. Levels of communicators are those of `comm`, unless it is null.
inline void report_library(MPI_Comm comm) {
  const char* wish = std::getenv("NHALF_TRACE_MPI_T");
  if (wish != nullptr && std::string_view(wish) == "no") return;
  if (!may_ask_library.exchange(false)) return;
  const auto report = MpiTool::report(&preloaded::in_mpi, true, comm);
  Metadata::of_process().line(
      json::Object{}
          .add("mpi_t", json::Object{}
                            .add("control", report.control)
                            .add("performance", report.performance)
                            .add("variables", json::members(report.variables))
                            .add("levels", json::members(report.levels)))
          .text());
}
}  // namespace nhalf::trace
