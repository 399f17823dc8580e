// The kernels of STREAM in shared arrays, each rank where its elements lie.
#pragma once

#include "patterns/bases/arrays/array_access.hpp"
#include "patterns/bases/arrays/memory_kernels.hpp"

namespace nhalf {
template <ArraysOf T>
class ArrayLoop : public Pattern {
 public:
  ArrayLoop(T& transport, const Case& point, MemoryKernel kernel)
      : transport_(transport),
        kernel_(kernel),
        access_(static_cast<Access>(point.choice("access", access_names))),
        layout_(layout_of(point, point.size_bytes / sizeof(double), transport.size())),
        a_(transport, layout_),
        b_(transport, layout_),
        c_(transport, layout_) {}

  void run(std::uint64_t rounds) override {
    for (auto i = rounds; i > 0; --i) run_by_access(kernel_);
  }

  /// All kernels in STREAM's order, then the one that is measured.
  bool verify() override {
    check_.begin();
    check_.fill(own(), index_of());
    for (const auto kernel : {MemoryKernel::copy, MemoryKernel::scale, MemoryKernel::add,
                              MemoryKernel::triad, kernel_}) {
      run_by_access(kernel);
      check_.ran(kernel);
    }
    return check_.holds(own(), index_of());
  }

  [[nodiscard]] bool is_right() override { return check_.holds(own(), index_of()); }

 private:
  using Array = pgas::shared_array<double, T>;

  /// An ordinary array is what casts are for: the very loops of memory-copy and so on.
  void run_by_access(MemoryKernel kernel) {
    switch (access_) {
      case Access::for_all:
        return run_each<Access::for_all>(kernel);
      case Access::pointer:
        return run_each<Access::pointer>(kernel);
      case Access::block:
        return run_each<Access::block>(kernel);
      case Access::cast:
        return run_kernel(kernel, own());
    }
  }
  template <Access access>
  void run_each(MemoryKernel kernel) {
    switch (kernel) {
      case MemoryKernel::copy:
        return each_own<access>([](double a) { return a; }, c_, a_);
      case MemoryKernel::scale:
        return each_own<access>([](double c) { return memory_scalar * c; }, b_, c_);
      case MemoryKernel::add:
        return each_own<access>([](double a, double b) { return a + b; }, c_, a_, b_);
      case MemoryKernel::triad:
        return each_own<access>([](double b, double c) { return b + memory_scalar * c; }, a_, b_,
                                c_);
    }
  }

  [[nodiscard]] MemoryArrays own() {
    return {a_.local().data(), b_.local().data(), c_.local().data(), a_.local().size()};
  }
  [[nodiscard]] auto index_of() const {
    return [this](std::size_t i) {
      return layout_.index(static_cast<std::size_t>(transport_.rank()), i);
    };
  }

  T& transport_;
  MemoryKernel kernel_;
  Access access_;
  pgas::Layout layout_;
  Array a_, b_, c_;
  MemoryCheck check_;
};

template <ArraysOf T, MemoryKernel kernel>
class ArrayPattern : public ArrayLoop<T> {
 public:
  ArrayPattern(T& transport, const Case& point) : ArrayLoop<T>(transport, point, kernel) {}
};

}  // namespace nhalf

/// The pattern of a kernel, such as array-copy; `bytes` is the size of one whole array, and so many
/// of these are read and written.
#define NHALF_ARRAY_KERNEL(kernel, formula, arrays)                                              \
  inline constexpr PatternInfo array_##kernel{                                                   \
      .name = "array-" #kernel,                                                                  \
      .what = "STREAM " #kernel " in shared arrays, each rank where its elements lie: " formula, \
      .needs = "one-sided, computing",                                                           \
      .ranks_min = 1,                                                                            \
      .bytes_factor = arrays,                                                                    \
      .timing = Timing::slowest_rank,                                                            \
      .axes = array_axes,                                                                        \
      .size_multiple = sizeof(double)};                                                          \
  template <ArraysOf T>                                                                          \
  using Array_##kernel = ArrayPattern<T, MemoryKernel::kernel>;                                  \
  NHALF_PATTERN(array_##kernel, Array_##kernel)

namespace nhalf {
NHALF_STREAM_KERNELS(NHALF_ARRAY_KERNEL);
}  // namespace nhalf
