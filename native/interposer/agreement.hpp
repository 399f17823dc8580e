// nhalf-needs: MPI
// Finds what the ranks of a communicator have in common, once before any of them leaves the
// library's algorithm: a rank that ran a different algorithm than its peers would wait forever.
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
#include "interposer/oversubscription.hpp"
#include "interposer/waiting.hpp"
#include "preloaded/library.hpp"
#include "preloaded/mpi.hpp"
#include "preloaded/virtual_time.hpp"

namespace nhalf::coll {

/// Returns a hash of the host and its process namespace; 0 if either is unknown, or if the ranks
/// are on a virtual network: shared memory would bypass it.
inline std::uint64_t host_seen() {
  static const std::uint64_t host = [] {
    const auto boot = preloaded::virtual_time() == nullptr ? boot_id() : "";
    struct stat processes{};
    if (boot.empty() || stat("/proc/self/ns/pid", &processes) != 0) return std::uint64_t{0};
    return static_cast<std::uint64_t>(
        std::hash<std::string>{}(boot + ' ' + std::to_string(processes.st_ino)));
  }();
  return host;
}

/// Whether this thread may make a communicator while others do. Threads of Open MPI 5.0 deadlock if
/// one makes a communicator of some ranks while the others make communicators of all ranks;
/// programs make most of theirs in the main thread, one after the other.
inline bool can_make_communicators() {
  int level = MPI_THREAD_SINGLE;
  int is_main = 0;
  PMPI_Query_thread(&level);
  PMPI_Is_thread_main(&is_main);
  return level != MPI_THREAD_MULTIPLE || is_main != 0 || !preloaded::library_is("Open MPI");
}

struct Agreement {
  /// Whether all ranks have the same rules.
  bool on_rules = false;
  /// Whether all ranks are on one host and see each other there.
  bool on_host = false;
  /// Whether ranks outnumber their cores.
  bool is_oversubscribed = false;
  /// Whether every rank may make a separate communicator for messages.
  bool on_communicators = false;
};

/// Compares the ranks of a communicator; collective. Throws Failed.
inline Agreement agreed(MPI_Comm comm, int ranks) {
  const auto digest = Choices::of_process().digest();
  const auto host = host_seen();
  const auto core_words = Oversubscription::of_rank();
  // A word is equal on all ranks if its bitwise or is the complement of the or of its complement.
  const std::uint64_t makes_none = can_make_communicators() ? 0 : 1;
  std::array<std::uint64_t, 5 + std::tuple_size_v<Oversubscription::Words>> words{
      digest, ~digest, host, ~host, makes_none};
  std::ranges::copy(core_words, words.begin() + 5);
  auto combined = words;
  const int error = PMPI_Allreduce(words.data(), combined.data(), static_cast<int>(words.size()),
                                   MPI_UINT64_T, MPI_BOR, comm);
  if (error != MPI_SUCCESS) throw Failed{error};
  const bool on_host = combined[2] == ~combined[3] && combined[2] != 0;
  const auto cores = std::span(combined).subspan(5);
  return {combined[0] == ~combined[1], on_host,
          on_host && Oversubscription::is_oversubscribed(cores, ranks), combined[4] == 0};
}

}  // namespace nhalf::coll
