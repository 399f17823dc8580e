// SPDX-License-Identifier: Apache-2.0
// A kernel of STREAM in which every rank has a part of each array, in memory of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "contract/buffer.hpp"
#include "contract/pattern.hpp"
#include "patterns/bases/memory_check.hpp"
#include "patterns/bases/memory_kernels.hpp"

namespace nhalf {

/// What is said of every one of these patterns: `bytes` is the size of one whole array.
constexpr PatternInfo memory_pattern(std::string_view name, std::string_view what, int arrays) {
  return {.name = name,
          .what = what,
          .needs = "computing",
          .ranks_min = 1,
          .bytes_factor = arrays,
          .timing = Timing::slowest_rank,
          .size_multiple = sizeof(double)};
}

/// The elements of one of `ranks` ranks, from the first on: as even as can be.
struct MemoryPart {
  std::size_t first = 0;
  std::size_t count = 0;

  static MemoryPart of(std::size_t elements, int rank, int ranks) {
    const auto one = static_cast<std::size_t>(rank);
    const auto all = static_cast<std::size_t>(ranks);
    const auto each = elements / all;
    const auto more = elements % all;
    return {one * each + std::min(one, more), each + (one < more ? 1 : 0)};
  }
};

/// As a program with threads or processes would do it: each rank writes first what it uses.
template <Computing T>
class MemoryLoop : public Pattern {
 public:
  MemoryLoop(T& transport, const Case& point, MemoryKernel kernel)
      : transport_(transport),
        kernel_(kernel),
        part_(
            MemoryPart::of(point.size_bytes / sizeof(double), transport.rank(), transport.size())),
        a_(part_.count * sizeof(double)),
        b_(part_.count * sizeof(double)),
        c_(part_.count * sizeof(double)),
        arrays_{numbers(a_), numbers(b_), numbers(c_), part_.count} {}

  void run(std::uint64_t rounds) override {
    for (auto i = rounds; i > 0; --i) run_kernel(kernel_, arrays_);
  }

  /// All kernels in STREAM's order, then the one that is measured.
  bool verify() override {
    check_.begin();
    check_.fill(arrays_, index_of());
    for (const auto kernel : {MemoryKernel::copy, MemoryKernel::scale, MemoryKernel::add,
                              MemoryKernel::triad, kernel_}) {
      run_kernel(kernel, arrays_);
      check_.ran(kernel);
    }
    return check_.holds(arrays_, index_of());
  }

  /// Throws InputError where the arrays do not hold what they should after the last round.
  std::vector<Value> values() override {
    if (!transport_.all(check_.holds(arrays_, index_of())))
      throw InputError("an array was wrong after it was timed");
    return {};
  }

 private:
  static double* numbers(Buffer& buffer) {
    return reinterpret_cast<double*>(buffer.bytes().data());
  }
  [[nodiscard]] auto index_of() const {
    return [first = part_.first](std::size_t i) { return first + i; };
  }

  T& transport_;
  MemoryKernel kernel_;
  MemoryPart part_;
  Buffer a_, b_, c_;
  MemoryArrays arrays_;
  MemoryCheck check_;
};

}  // namespace nhalf
