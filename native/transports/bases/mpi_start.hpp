// nhalf-needs: MPI
// Starts and ends MPI, and times both.
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstdlib>
#include <string>

#include "contract/options.hpp"
#include "host/boot.hpp"

namespace nhalf {

/// Times of the start and the end of MPI in a process.
struct MpiStart {
  /// Seconds from the call of the launcher until MPI was ready; below 0 if unknown, as on other
  /// hosts.
  static inline double launched_s = -1;
  /// Seconds in MPI_Init.
  static inline double initialised_s = 0;
  /// Seconds in MPI_Finalize.
  static inline double finalised_s = 0;

  /// Starts MPI, for several threads if the option `threads` is set.
  static void start(int argc, char** argv, const Options& options) {
    const double began_s = now_s();
    if (options.number("threads", 0.0) > 0) {
      int level = MPI_THREAD_SINGLE;
      MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    } else {
      MPI_Init(&argc, &argv);
    }
    const double ready_s = now_s();
    initialised_s = ready_s - began_s;
    if (const auto launch_s = launch_of_this_host_s(); launch_s > 0)
      launched_s = ready_s - launch_s;
  }

  static void finish() {
    const double began_s = now_s();
    MPI_Finalize();
    finalised_s = now_s() - began_s;
  }

 private:
  static double now_s() {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(since).count();
  }
  /// NHALF_LAUNCHED is `host:seconds` of the launcher's start on the clock that does not go back.
  static double launch_of_this_host_s() {
    const char* variable = std::getenv("NHALF_LAUNCHED");
    if (variable == nullptr) return 0;
    const std::string text = variable;
    const auto cut = text.find(':');
    if (cut == std::string::npos || text.substr(0, cut) != boot_id()) return 0;
    return std::strtod(text.c_str() + cut + 1, nullptr);
  }
};

}  // namespace nhalf
