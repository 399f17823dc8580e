// Times one kind of operation in a loop, and lists the kernels that this processor can run.
#pragma once

#include "contract/pattern.hpp"
#include "node/units/kernel.hpp"

namespace nhalf {
/// Returns all kernels for this processor; vector versions take precedence over plain ones.
inline std::vector<UnitKernel> unit_kernels() {
  std::vector<UnitKernel> kernels_here;
  const auto take = [&](UnitKernels kernels) {
    for (std::size_t i = 0; i < kernels.count; ++i) {
      const auto& kernel = kernels.first[i];
      const bool is_listed = std::ranges::any_of(kernels_here, [&](const UnitKernel& listed) {
        return std::string_view(listed.operation) == kernel.operation &&
               listed.bits == kernel.bits && listed.chains == kernel.chains;
      });
      if (!is_listed) kernels_here.push_back(kernel);
    }
  };
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f")) take(avx512_kernels());
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) take(avx2_kernels());
#endif
  take(plain_kernels());
  return kernels_here;
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

/// Runs a kernel; a round is one operation, rounded up to whole turns of the loop.
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

  /// What a round consists of, for kernels whose rounds overlap.
  std::vector<Value> values() override {
    if (kernel_.round_instructions == 0) return {};
    return {{"chain_divisions", static_cast<double>(kernel_.chain_divisions)},
            {"round_instructions", static_cast<double>(kernel_.round_instructions)}};
  }

 private:
  static UnitKernel of(const Case& point) {
    const auto operation = point.axes.text("operation");
    const auto bits = point.axes.number("bits", 64);
    const auto chains = point.axes.number("chains", 1);
    for (const auto& kernel : unit_kernels())
      if (kernel.operation == operation && kernel.bits == bits && kernel.chains == chains)
        return kernel;
    throw InputError("this processor has no loop of " + operation + " on " + std::to_string(bits) +
                     " bits with " + std::to_string(chains) + " chains");
  }

  UnitKernel kernel_;
  alignas(64) std::array<std::byte, 4096> memory_{};
};
}  // namespace nhalf
