// SPDX-License-Identifier: Apache-2.0
// A loop over one kind of operation as a pattern, and which of them this processor can run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "contract/pattern.hpp"
#include "node/units/kernel.hpp"

namespace nhalf {

/// All kernels for this processor; the version for its vector units goes before the plain one.
inline std::vector<UnitKernel> unit_kernels() {
  std::vector<UnitKernel> found;
  const auto take = [&](UnitKernels kernels) {
    for (std::size_t i = 0; i < kernels.count; ++i) {
      const auto& one = kernels.first[i];
      const bool known = std::ranges::any_of(found, [&](const UnitKernel& other) {
        return std::string_view(other.operation) == one.operation && other.bits == one.bits &&
               other.chains == one.chains;
      });
      if (!known) found.push_back(one);
    }
  };
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f")) take(avx512_kernels());
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) take(avx2_kernels());
#endif
  take(plain_kernels());
  return found;
}

inline constexpr AxisInfo unit_axes[] = {
    {"operation", "add", "", "what is done: --describe lists it under kernels"},
    {"bits", "64", "", "width of its operands; 64 is scalar"},
    {"chains", "1", "", "independent operations under way: 1 measures a latency"}};

inline constexpr PatternInfo node_unit{
    .name = "node-unit",
    .what = "one kind of operation in registers, or on memory in the nearest cache",
    .ranks_min = 1,
    .axes = unit_axes,
    .sized = false};

/// A round is one operation; the loop does some more, so that it ends with a whole turn.
class UnitLoop : public Pattern {
 public:
  explicit UnitLoop(const Case& point) : kernel_(of(point)) {}

  void run(std::uint64_t rounds) override {
    const auto operations = static_cast<std::uint64_t>(kernel_.operations);
    kernel_.run((rounds + operations - 1) / operations, memory_.data());
  }

  bool verify() override {
    run(1);
    return true;
  }

 private:
  static UnitKernel of(const Case& point) {
    const auto operation = point.axes.text("operation");
    const auto bits = point.axes.number("bits", 64);
    const auto chains = point.axes.number("chains", 1);
    for (const auto& one : unit_kernels())
      if (one.operation == operation && one.bits == bits && one.chains == chains) return one;
    throw InputError("this processor has no loop of " + operation + " on " + std::to_string(bits) +
                     " bits with " + std::to_string(chains) + " chains");
  }

  UnitKernel kernel_;
  alignas(64) std::array<std::byte, 4096> memory_{};
};

}  // namespace nhalf
