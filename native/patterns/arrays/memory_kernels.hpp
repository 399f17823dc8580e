// The kernels of STREAM in ordinary arrays, of which each rank has a part.
#pragma once

#include "contract/pattern.hpp"
#include "patterns/bases/arrays/memory_kernels.hpp"
#include "patterns/bases/arrays/worker_threads.hpp"

namespace nhalf {
inline constexpr AxisInfo memory_axes[] = {
    {"threads", "1", "1",
     "OpenMP threads that share a rank's part; all: one for each of its cores"},
    {"stores", "cached", "cached", "cached, or streaming: stores that pass the caches by"}};

/// The elements of one of `ranks` ranks, from the first on: as even as can be.
struct MemoryPart {
  std::size_t first = 0;
  std::size_t count = 0;

  static MemoryPart of(std::size_t elements, int rank, int ranks) {
    const auto number = static_cast<std::size_t>(rank);
    const auto all = static_cast<std::size_t>(ranks);
    const auto share = elements / all;
    const auto more = elements % all;
    return {number * share + std::min(number, more), share + (number < more ? 1 : 0)};
  }
};

/// Memory that nobody has touched: the thread that does so first has it near.
class UntouchedNumbers {
 public:
  explicit UntouchedNumbers(std::size_t count)
      : numbers_(static_cast<double*>(std::aligned_alloc(
            page_bytes, (count * sizeof(double) / page_bytes + 1) * page_bytes))) {
    if (count * sizeof(double) > Buffer::largest_bytes() || !numbers_) throw std::bad_alloc();
  }
  [[nodiscard]] double* data() const { return numbers_.get(); }

 private:
  struct Free {
    void operator()(double* memory) const { std::free(memory); }
  };
  std::unique_ptr<double, Free> numbers_;
};

/// Arrays as programs with threads or processes have them: each thread of each rank writes first
/// what it uses.
template <Computing T>
class MemoryLoop : public Pattern {
 public:
  MemoryLoop(T& transport, const Case& point, MemoryKernel kernel)
      : transport_(transport),
        kernel_(kernel),
        streams_(streams(point)),
        threads_(point.axes.text("threads", "1"), transport.rank()),
        part_(
            MemoryPart::of(point.size_bytes / sizeof(double), transport.rank(), transport.size())),
        a_(part_.count),
        b_(part_.count),
        c_(part_.count) {
    check_.begin();
    fill();
  }

  void run(std::uint64_t rounds) override {
    for (auto i = rounds; i > 0; --i) run_all(kernel_);
  }

  /// All kernels in STREAM's order, then the one that is measured.
  bool verify() override {
    check_.begin();
    fill();
    for (const auto kernel : {MemoryKernel::copy, MemoryKernel::scale, MemoryKernel::add,
                              MemoryKernel::triad, kernel_}) {
      run_all(kernel);
      check_.ran(kernel);
    }
    return is_right();
  }

  [[nodiscard]] bool checks_messages() const override { return false; }

  /// Whether the arrays hold what they should after the last round.
  [[nodiscard]] bool is_right() override {
    const auto [first, arrays] = share_of(0, 1);
    return check_.holds(arrays, [first = first](std::size_t i) { return first + i; });
  }

  std::vector<Value> values() override {
    if (threads_.count() == 1) return {};
    return {{"threads", static_cast<double>(threads_.count())}};
  }

 private:
  /// Whether a point asks for stores past the caches. Throws InputError where there are none.
  static bool streams(const Case& point) {
    constexpr std::string_view stores[] = {"cached", "streaming"};
    const bool is_streaming = point.choice("stores", stores) == 1;
    if (is_streaming && !has_streaming_stores)
      throw InputError("stores=streaming: this processor has no stores past the caches");
    return is_streaming;
  }

  /// What one of several threads works on, and where that begins in the whole array.
  struct Share {
    std::size_t first;
    MemoryArrays arrays;
  };
  [[nodiscard]] Share share_of(int thread, int threads) const {
    const auto part = MemoryPart::of(part_.count, thread, threads);
    return {part_.first + part.first,
            {a_.data() + part.first, b_.data() + part.first, c_.data() + part.first, part.count}};
  }
  void run_all(MemoryKernel kernel) {
    threads_.each([&](int thread, int threads) {
      const auto arrays = share_of(thread, threads).arrays;
      streams_ ? run_streaming_kernel(kernel, arrays) : run_kernel(kernel, arrays);
    });
  }
  void fill() {
    threads_.each([&](int thread, int threads) {
      const auto [first, arrays] = share_of(thread, threads);
      check_.fill(arrays, [first = first](std::size_t i) { return first + i; });
    });
  }

  T& transport_;
  MemoryKernel kernel_;
  bool streams_;
  WorkerThreads threads_;
  MemoryPart part_;
  UntouchedNumbers a_, b_, c_;
  MemoryCheck check_;
};

template <Computing T, MemoryKernel kernel>
class MemoryPattern : public MemoryLoop<T> {
 public:
  MemoryPattern(T& transport, const Case& point) : MemoryLoop<T>(transport, point, kernel) {}
};

}  // namespace nhalf

/// The pattern of a kernel, such as memory-copy; `bytes` is the size of one whole array, and so
/// many of these are read and written.
#define NHALF_MEMORY_KERNEL(kernel, formula, arrays)                                            \
  inline constexpr PatternInfo memory_##kernel{                                                 \
      .name = "memory-" #kernel,                                                                \
      .what = "STREAM " #kernel " in ordinary arrays, of which each rank has a part: " formula, \
      .needs = "computing",                                                                     \
      .ranks_min = 1,                                                                           \
      .bytes_factor = arrays,                                                                   \
      .timing = Timing::slowest_rank,                                                           \
      .axes = memory_axes,                                                                      \
      .size_multiple = sizeof(double),                                                          \
      .on_host = true};                                                                         \
  template <Computing T>                                                                        \
  using Memory_##kernel = MemoryPattern<T, MemoryKernel::kernel>;                               \
  NHALF_PATTERN(memory_##kernel, Memory_##kernel)

namespace nhalf {
NHALF_STREAM_KERNELS(NHALF_MEMORY_KERNEL);
}  // namespace nhalf
