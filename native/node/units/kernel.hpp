// Describes a loop over one kind of operation, and declares the lists of such loops.
//
// Files of kernels are compiled for processors that this one may not be. They include this header
// and nothing of the standard library, whose functions must not be compiled in such a version.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nhalf {
/// A loop over one kind of operation. `bits` is the width of its operands (64: scalar), `chains`
/// how many independent operations are in flight: 1 measures a latency, many a throughput.
struct UnitKernel {
  const char* operation;
  int bits;
  int chains;
  /// Number of operations per round.
  int operations;
  /// `memory` holds 4 KiB and is aligned to a cache line.
  void (*run)(std::uint64_t rounds, void* memory);
  /// For rounds that overlap: divisions of the dependency chain that begins a round, and all
  /// instructions of a round; 0 for other kernels.
  int chain_divisions = 0;
  int round_instructions = 0;
};

struct UnitKernels {
  const UnitKernel* first;
  std::size_t count;
};

UnitKernels plain_kernels();
#if defined(__x86_64__)
UnitKernels avx2_kernels();
UnitKernels avx512_kernels();
#endif
}  // namespace nhalf
