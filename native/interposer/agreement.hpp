// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// What the ranks of a communicator have in common, asked once before any of them takes another way
// than the library's: a rank that went another way than its peers would wait for them forever.
#pragma once

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
#include "preloaded/library.hpp"
#include "preloaded/mpi.hpp"

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

/// Whether this thread may make a communicator while others do. Threads of Open MPI 5.0 wait for
/// each other forever where one makes a communicator of some ranks and the others make those of
/// all; programs make most of theirs in the main thread, one after the other.
inline bool can_make_communicators() {
  int level = MPI_THREAD_SINGLE;
  int is_main = 0;
  PMPI_Query_thread(&level);
  PMPI_Is_thread_main(&is_main);
  return level != MPI_THREAD_MULTIPLE || is_main != 0 || !preloaded::library_is("Open MPI");
}

struct Agreement {
  /// All have the same rules.
  bool on_rules = false;
  /// All are on one host and can see each other there.
  bool on_host = false;
  /// They are more than their cores.
  bool is_crowded = false;
  /// On every rank messages may have a communicator of their own.
  bool on_communicators = false;
};

/// All ranks call it. Throws Failed.
inline Agreement agreed(MPI_Comm comm, int ranks) {
  const auto digest = Choices::of_process().digest();
  const auto host = host_seen();
  const auto crowd = Crowd::of_rank();
  // A bit that is set in some word and in the reverse of some word is not the same in all of them.
  const std::uint64_t makes_none = can_make_communicators() ? 0 : 1;
  std::array<std::uint64_t, 5 + std::tuple_size_v<Crowd::Words>> given{digest, ~digest, host, ~host,
                                                                       makes_none};
  std::ranges::copy(crowd, given.begin() + 5);
  auto any = given;
  const int error = PMPI_Allreduce(given.data(), any.data(), static_cast<int>(given.size()),
                                   MPI_UINT64_T, MPI_BOR, comm);
  if (error != MPI_SUCCESS) throw Failed{error};
  const bool on_host = any[2] == ~any[3] && any[2] != 0;
  const auto cores = std::span(any).subspan(5);
  return {any[0] == ~any[1], on_host, on_host && Crowd::is_crowded(cores, ranks), any[4] == 0};
}

}  // namespace nhalf::coll
