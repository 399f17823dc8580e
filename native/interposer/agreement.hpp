// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// What the ranks of a communicator have in common, asked once before any of them takes another way
// than the library's: a rank that went another way than its peers would wait for them forever.
#pragma once

#include <mpi.h>
#include <sys/stat.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "host/boot.hpp"
#include "interposer/choices.hpp"
#include "interposer/waiting.hpp"

namespace nhalf::coll {

/// Names this host and what processes it sees; 0 where that cannot be told.
inline std::uint64_t host_seen() {
  static const std::uint64_t seen = [] {
    const auto boot = boot_id();
    struct stat processes{};
    if (boot.empty() || stat("/proc/self/ns/pid", &processes) != 0) return std::uint64_t{0};
    return static_cast<std::uint64_t>(
        std::hash<std::string>{}(boot + ' ' + std::to_string(processes.st_ino)));
  }();
  return seen;
}

struct Agreement {
  /// All have the same rules.
  bool on_rules = false;
  /// All are on one host and can see each other there.
  bool on_host = false;
};

/// All ranks call it. Throws Failed.
inline Agreement agreed(MPI_Comm comm) {
  const std::array<std::uint64_t, 2> own{Choices::of_process().digest(), host_seen()};
  // Where the least of all is the most of all there is but one; ~ turns the order around.
  const std::array<std::uint64_t, 4> given{own[0], ~own[0], own[1], ~own[1]};
  std::array<std::uint64_t, 4> least{};
  const int error = PMPI_Allreduce(given.data(), least.data(), static_cast<int>(given.size()),
                                   MPI_UINT64_T, MPI_MIN, comm);
  if (error != MPI_SUCCESS) throw Failed{error};
  return {least[0] == ~least[1], least[2] == ~least[3] && least[2] != 0};
}

}  // namespace nhalf::coll
