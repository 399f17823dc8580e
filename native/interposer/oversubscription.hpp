// Whether ranks outnumber the cores that they may use.
#pragma once

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

namespace nhalf::coll {

/// Cores and job size of a rank, as words that the ranks of a communicator combine by bitwise or.
class Oversubscription {
 public:
  static constexpr std::size_t cores_words = sizeof(cpu_set_t) / sizeof(std::uint64_t);
  using Words = std::array<std::uint64_t, cores_words + 1>;

  /// Returns the cores that this rank may use, and whether the job has more ranks on this host than
  /// cores.
  static Words of_rank() {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    // This fails on a machine with more cores than the set holds; then none are known.
    sched_getaffinity(0, sizeof cores, &cores);
    Words words{};
    std::memcpy(words.data(), &cores, sizeof cores);
    words.back() = ranks_here() > sysconf(_SC_NPROCESSORS_ONLN) ? 1 : 0;
    return words;
  }

  /// Whether these ranks of one host, or those of the job, outnumber their cores.
  static bool is_oversubscribed(std::span<const std::uint64_t> of_all, int ranks) {
    int cores = 0;
    for (const auto word : of_all.first(cores_words)) cores += std::popcount(word);
    return (cores > 0 && ranks > cores) || of_all[cores_words] != 0;
  }

 private:
  /// Returns the number of ranks of the job on this host from the launcher's variables, or 0.
  static long ranks_here() {
    long most = 0;
    for (const char* name : {"MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE", "PALS_LOCAL_SIZE",
                             "MV2_COMM_WORLD_LOCAL_SIZE"})
      if (const char* value = std::getenv(name)) most = std::max(most, std::atol(value));
    return most;
  }
};

}  // namespace nhalf::coll
