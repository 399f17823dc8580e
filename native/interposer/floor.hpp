// The least time that an operation of ranks on one host can take, from what their cores were
// measured to do: to hand over a flag, and to copy while all others copy.
#pragma once

#include "interposer/shared_operations.hpp"
#include "interposer/table.hpp"
#include "timing/clock.hpp"

namespace nhalf::coll {

/// Returns the bytes that at least one rank has to copy or combine in an operation of `size_bytes`:
/// of the message, the vector or one block. They are the lower bounds of Chan, Heimlich,
/// Purkayastha and van de Geijn, "Collective communication: theory, practice, and experience",
/// Concurrency and Computation 19(13), 2007, but that ranks that share memory need not send: they
/// read, all at once, so the work on rooted data and on terms is divided among all.
inline double least_bytes(Operation operation, double size_bytes, int ranks) {
  using enum Operation;
  const double peers = ranks - 1;
  switch (operation) {
    case barrier:
      return 0;
    case bcast:
    case gather:
    case scatter:
      return size_bytes;
    case reduce:
    case scan:
      return size_bytes * peers / ranks;
    case allreduce:
      return 2 * size_bytes * peers / ranks;
    case allgather:
    case alltoall:
    case reduce_scatter:
      break;
  }
  return size_bytes * peers;
}

/// Whether a rank may return from an operation before others have called it. Flags of several calls
/// are then on their way at once.
constexpr bool runs_ahead(Operation operation) {
  using enum Operation;
  return operation == bcast || operation == reduce || operation == gather || operation == scatter ||
         operation == scan;
}

/// What the cores of all ranks were measured to do.
struct Floor {
  /// The sizes that all ranks copy: 4 KiB, 8 KiB and so on to 4 MiB.
  static constexpr std::size_t sizes = 11;
  static constexpr std::size_t least_size_bytes = 4096;
  static constexpr std::size_t size_bytes(std::size_t i) { return least_size_bytes << i; }

  int ranks = 0;
  /// A flag from the core of rank 0 to that of rank 1.
  double flag_s = 0;
  /// The seconds of the slowest rank for each size, while all copy.
  std::array<double, sizes> copy_s{};

  /// Returns the least seconds for `bytes`, at the highest rate at which as much, or more, was
  /// copied.
  [[nodiscard]] double copied_s(double bytes) const {
    double byte_s = std::numeric_limits<double>::infinity();
    for (std::size_t i = sizes; i-- > 0;) {
      byte_s = std::min(byte_s, copy_s[i] / static_cast<double>(size_bytes(i)));
      if (static_cast<double>(size_bytes(i)) <= bytes) break;
    }
    return bytes * byte_s;
  }
  /// Returns the least seconds of an operation: one flag where every rank waits for all others, and
  /// the bytes that one of them has to move.
  [[nodiscard]] double operation_s(Operation operation, std::uint64_t size_bytes) const {
    return (runs_ahead(operation) ? 0 : flag_s) +
           copied_s(least_bytes(operation, static_cast<double>(size_bytes), ranks));
  }
  [[nodiscard]] std::string text() const {
    std::array<char, 160> line{};
    const auto rate = [&](std::size_t i) {
      return static_cast<double>(size_bytes(i)) / copy_s[i] / 1e9;
    };
    std::snprintf(
        line.data(), line.size(),
        "nhalf: floor of %d ranks: a flag takes %.3f us; all at once each copies %.2f GB/s"
        " of 4 KiB, %.2f of 256 KiB, %.2f of 4 MiB\n",
        ranks, flag_s * 1e6, rate(0), rate(6), rate(sizes - 1));
    return line.data();
  }
};

/// Returns the least seconds of a flag that ranks 0 and 1 hand to each other in turn; collective.
inline double flag_time_s(SharedMemory& memory, const SteadyClock& clock) {
  // Short batches, so that some are not interrupted.
  constexpr int batches = 16;
  constexpr int flags = 16;
  double least_s = std::numeric_limits<double>::infinity();
  for (int batch = 0; batch < batches; ++batch) {
    memory.barrier();
    const double start_s = clock.now_s();
    for (int giver = 0; giver < flags; ++giver) {
      const auto number = memory.begin();
      if (memory.rank() == giver % 2) memory.raise(Level::passed, number);
      if (memory.rank() == 1 - giver % 2) memory.await(giver % 2, Level::passed, number);
      memory.end(number);
    }
    least_s = std::min(least_s, (clock.now_s() - start_s) / flags);
  }
  return least_s;
}

/// Returns the seconds of this rank's copy while all ranks copy; collective.
inline double copy_time_s(SharedMemory& memory, const SteadyClock& clock, ConstBytes from,
                          Bytes to) {
  // Small copies are too short for a clock.
  const auto copies = std::max(std::size_t{1}, (std::size_t{1} << 18) / from.size());
  place(from, to);
  memory.barrier();
  const double start_s = clock.now_s();
  for (std::size_t i = 0; i < copies; ++i) {
    place(from, to);
    // No copy is left out because nobody reads it.
    asm volatile("" : : "r"(to.data()) : "memory");
  }
  return (clock.now_s() - start_s) / static_cast<double>(copies);
}

/// Measures the floor of all ranks together; collective, some milliseconds. Throws Failed if the
/// ranks do not all come, and std::bad_alloc.
inline Floor measured_floor(SharedMemory& memory) {
  constexpr int repetitions = 3;
  constexpr std::size_t most_bytes = Floor::size_bytes(Floor::sizes - 1);
  const SteadyClock clock;
  Floor floor{memory.size(), flag_time_s(memory, clock), {}};
  Buffer buffer(2 * most_bytes);
  const auto from = buffer.bytes().first(most_bytes);
  const auto to = buffer.bytes().subspan(most_bytes);
  std::ranges::fill(from, std::byte{1});
  std::array<double, Floor::sizes * repetitions> own{};
  for (std::size_t i = 0; i < own.size(); ++i) {
    const auto size_bytes = Floor::size_bytes(i / repetitions);
    own[i] = copy_time_s(memory, clock, from.first(size_bytes), to.first(size_bytes));
  }
  std::vector<double> all(own.size() * static_cast<std::size_t>(memory.size()));
  shared::allgather(memory, std::as_bytes(std::span(own)), std::as_writable_bytes(std::span(all)));
  floor.copy_s.fill(std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < own.size(); ++i) {
    double slowest_s = 0;
    for (std::size_t at = i; at < all.size(); at += own.size())
      slowest_s = std::max(slowest_s, all[at]);
    auto& least_s = floor.copy_s[i / repetitions];
    least_s = std::min(least_s, slowest_s);
  }
  return floor;
}

}  // namespace nhalf::coll
