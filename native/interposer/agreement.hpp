// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// What the ranks of a communicator have in common, asked once before any of them takes another way
// than the library's: a rank that went another way than its peers would wait for them forever.
#pragma once

#include <mpi.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <tuple>

#include "host/boot.hpp"
#include "interposer/choices.hpp"
#include "interposer/crowd.hpp"
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
  /// They are more than their cores.
  bool is_crowded = false;
};

/// All ranks call it. Throws Failed.
inline Agreement agreed(MPI_Comm comm, int ranks) {
  const auto digest = Choices::of_process().digest();
  const auto host = host_seen();
  const auto crowd = Crowd::of_rank();
  // A bit that is set in some word and in the reverse of some word is not the same in all of them.
  std::array<std::uint64_t, 4 + std::tuple_size_v<Crowd::Words>> given{digest, ~digest, host,
                                                                       ~host};
  std::ranges::copy(crowd, given.begin() + 4);
  auto any = given;
  const int error = PMPI_Allreduce(given.data(), any.data(), static_cast<int>(given.size()),
                                   MPI_UINT64_T, MPI_BOR, comm);
  if (error != MPI_SUCCESS) throw Failed{error};
  const bool on_host = any[2] == ~any[3] && any[2] != 0;
  const auto cores = std::span(any).subspan(4);
  return {any[0] == ~any[1], on_host, on_host && Crowd::is_crowded(cores, ranks)};
}

}  // namespace nhalf::coll
