// What this host has for all communicators of a program: a budget of shared memory, and cores,
// which ranks may outnumber.
#pragma once

#include <sched.h>
#include <unistd.h>
#include <atomic>
#include <cstdlib>

#include "host/kernel_files.hpp"

namespace nhalf::coll {

/// The share of one communicator in the shared memory budget of the process.
class MemoryBudget {
 public:
  MemoryBudget() = default;
  MemoryBudget(MemoryBudget&& other) noexcept
      : taken_bytes_(std::exchange(other.taken_bytes_, 0)) {}
  MemoryBudget& operator=(MemoryBudget&& other) noexcept {
    std::swap(taken_bytes_, other.taken_bytes_);
    return *this;
  }
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;
  ~MemoryBudget() { spent_bytes() -= taken_bytes_; }

  /// Takes memory from the budget; false if that exceeds it.
  [[nodiscard]] bool take(std::size_t size_bytes) {
    taken_bytes_ = size_bytes;
    return spent_bytes().fetch_add(size_bytes) + size_bytes <= most_bytes();
  }

  /// Returns the budget of one process: the processes of a host, one per processor, take at most
  /// 1/64 of its memory, or of their control group's, to which shared memory is charged.
  static std::size_t most_bytes() {
    static const std::size_t budget_bytes =
        memory_limit_bytes() / 64 /
        static_cast<std::size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
    return budget_bytes;
  }

 private:
  static std::atomic<std::size_t>& spent_bytes() {
    static std::atomic<std::size_t> spent{0};
    return spent;
  }

  std::size_t taken_bytes_ = 0;
};

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
