// What a message of GPU memory pays before it is on the wire: launches, copies, and flags between
// processor and GPU.
#pragma once

#include <atomic>

#include "contract/buffer.hpp"
#include "contract/pattern.hpp"
#include "node/gpu_sampler.hpp"

namespace nhalf::gpu {
/// Kernels of these loops:
/// - nhalf_empty() does nothing.
/// - nhalf_flag(flag, rounds) waits for each odd number in turn and answers with the next one. It
///   gives up after so many looks that a host that is gone does not keep the GPU.
inline constexpr const char* loop_kernels =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry nhalf_empty()\n{\n  ret;\n}\n"
    ".visible .entry nhalf_flag(.param .u64 flag, .param .u32 rounds)\n{\n"
    "  .reg .pred %p<4>; .reg .u32 %r<7>; .reg .u64 %rd1;\n"
    "  ld.param.u64 %rd1, [flag]; cvta.to.global.u64 %rd1, %rd1; ld.param.u32 %r1, [rounds];\n"
    "  mov.u32 %r2, 0;\n"
    "NEXT:\n"
    "  setp.ge.u32 %p1, %r2, %r1;\n"
    "  @%p1 bra DONE;\n"
    "  shl.b32 %r3, %r2, 1; add.u32 %r3, %r3, 1; mov.u32 %r5, 0;\n"
    "WAIT:\n"
    "  add.u32 %r5, %r5, 1; setp.gt.u32 %p3, %r5, 16777216;\n"
    "  @%p3 bra DONE;\n"
    "  ld.volatile.global.u32 %r4, [%rd1]; setp.ne.u32 %p2, %r4, %r3;\n"
    "  @%p2 bra WAIT;\n"
    "  add.u32 %r3, %r3, 1; st.volatile.global.u32 [%rd1], %r3; membar.sys;\n"
    "  add.u32 %r2, %r2, 1;\n"
    "  bra NEXT;\n"
    "DONE:\n  ret;\n}\n";

inline constexpr AxisInfo which_gpu{"gpu", "0", "0", "the number that the driver gives the GPU"};

/// Three times of an operation, which end when the call returns to the host, when the device has
/// done it, and when the host knows that. The last one is the sample.
class ThreeTimes {
 public:
  ThreeTimes(Stream stream, const HostClock& clock) : stream_(stream), clock_(clock) {}

  /// Puts work on the stream and waits for it.
  template <class Work>
  void run(Work work) {
    const double start_s = clock_.now_s();
    work();
    returned_s_.push_back(clock_.now_s() - start_s);
    synchronise(stream_);
  }
  /// Medians of the first two times: the device's is that between events around the work.
  template <class Work>
  std::vector<Value> values(Work work) {
    constexpr int times = 21;
    std::vector<double> device_s;
    const auto before = event(), after = event();
    const auto& calls = driver();
    for (int i = 0; i < times; ++i) {
      float elapsed_ms = 0;
      calls.check(calls.event_record(before.get(), stream_), "event");
      work();
      calls.check(calls.event_record(after.get(), stream_), "event");
      synchronise(stream_);
      calls.check(calls.event_elapsed(&elapsed_ms, before.get(), after.get()), "event");
      device_s.push_back(1e-3 * static_cast<double>(elapsed_ms));
    }
    return {{"host_returns_s", order_statistic(returned_s_, returned_s_.size() / 2)},
            {"device_s", order_statistic(device_s, device_s.size() / 2)}};
  }

 private:
  Stream stream_;
  const HostClock& clock_;
  std::vector<double> returned_s_;
};

inline constexpr AxisInfo wait_axis{"wait", "spin,yield,block", "spin",
                                    "how a host that waits for the GPU does"};
inline constexpr AxisInfo launch_axes[] = {
    wait_axis,
    {"pause_s", "0,0.001,0.01,0.1", "0", "the GPU had nothing to do for so long, seconds"},
    {"kernels", "1,16", "1", "so many empty kernels, each after the one before"},
    {"by", "launches,graph", "launches", "a launch each, or one of a graph that holds them all"},
    which_gpu};
inline constexpr PatternInfo launch_info{
    .name = "gpu-launch",
    .what = "empty kernels, from their launch until the host knows that they have ended",
    .ranks_min = 1,
    .axes = launch_axes,
    .sized = false};

class Launch : public Pattern {
 public:
  Launch(ReadyGpu& gpu, const HostClock& clock, const Case& point)
      : gpu_(gpu),
        clock_(clock),
        times_(gpu.stream.get(), clock),
        pause_s_(point.axes.number("pause_s", 0.0)),
        kernels_(point.axes.number("kernels", 1)) {
    constexpr int kernels_max = 10'000;
    constexpr std::string_view ways[] = {"launches", "graph"};
    if (!(pause_s_ >= 0 && pause_s_ <= 10)) throw InputError("axis pause_s is from 0 to 10");
    if (kernels_ < 1 || kernels_ > kernels_max)
      throw InputError("axis kernels is from 1 to " + std::to_string(kernels_max));
    if (point.choice("by", ways) == 0) return;
    const double start_s = clock_.now_s();
    graph_ = graph_of(gpu_.stream.get(), [&] { launch_each(); });
    instantiated_s_ = clock_.now_s() - start_s;
  }
  void run(std::uint64_t rounds) override {
    for (std::uint64_t i = 0; i < rounds; ++i) times_.run([&] { launch_all(); });
  }
  bool verify() override { return true; }
  void prepare() override {
    if (pause_s_ > 0) clock_.pause(pause_s_);
  }
  std::vector<Value> values() override {
    auto values = times_.values([&] { launch_all(); });
    if (graph_.get() != nullptr) values.push_back({"instantiated_s", instantiated_s_});
    return values;
  }

 private:
  void launch_each() const {
    for (int i = 0; i < kernels_; ++i) launch(kernel_, 1, 1, gpu_.stream.get());
  }
  void launch_all() const {
    if (graph_.get() == nullptr) return launch_each();
    driver().check(driver().graph_launch(graph_.get(), gpu_.stream.get()), "graph");
  }

  ReadyGpu& gpu_;
  const HostClock& clock_;
  ThreeTimes times_;
  double pause_s_;
  int kernels_;
  OwnedModule module_ = module(loop_kernels);
  Function kernel_ = function(module_, "nhalf_empty");
  OwnedGraphProgram graph_;
  double instantiated_s_ = 0;
};

inline constexpr AxisInfo wait_axes[] = {
    {"call", "synchronise,query,event", "synchronise",
     "synchronise: of a stream; query: whether it is empty; event: of one that was recorded"},
    wait_axis,
    which_gpu};
inline constexpr PatternInfo wait_info{
    .name = "gpu-wait",
    .what = "a wait for a GPU that has nothing left to do: what waiting costs by itself",
    .ranks_min = 1,
    .rounds_min = 10,
    .axes = wait_axes,
    .sized = false};

class Wait : public Pattern {
 public:
  Wait(ReadyGpu& gpu, const Case& point) : gpu_(gpu), call_(point.choice("call", names)) {
    const std::size_t wait = point.choice("wait", ReadyGpu::wait_names);
    constexpr unsigned without_spinning = 1;
    event_ = event(wait == std::size(ReadyGpu::wait_names) - 1 ? without_spinning : 0);
    driver().check(driver().event_record(event_.get(), gpu_.stream.get()), "event");
  }
  void run(std::uint64_t rounds) override {
    const auto& calls = driver();
    for (std::uint64_t i = 0; i < rounds; ++i)
      calls.check(call_ == 0   ? calls.stream_synchronise(gpu_.stream.get())
                  : call_ == 1 ? calls.stream_query(gpu_.stream.get())
                               : calls.event_synchronise(event_.get()),
                  names[call_]);
  }
  bool verify() override {
    synchronise(gpu_.stream.get());
    return true;
  }

 private:
  static constexpr std::string_view names[] = {"synchronise", "query", "event"};
  ReadyGpu& gpu_;
  std::size_t call_;
  OwnedEvent event_;
};

inline constexpr AxisInfo copy_axes[] = {
    {"memory", "pinned-device,device-pinned,host-device,device-host,managed-device,device",
     "pinned-device", "from which memory to which; one word for both"},
    which_gpu};
inline constexpr PatternInfo copy_info{
    .name = "gpu-copy",
    .what = "a copy to, from or within the GPU's memory, until the host knows that it has ended",
    .ranks_min = 1,
    .axes = copy_axes};

/// Memory of one kind, filled and checked where it is.
class Place {
 public:
  Place(ReadyGpu& gpu, const std::string& kind, std::size_t size_bytes)
      : gpu_(gpu), size_bytes_(size_bytes) {
    if (kind == "device" || kind == "managed") {
      device_ = kind == "device" ? device_memory(size_bytes) : managed_memory(size_bytes);
      address_ = device_.get();
      is_managed_ = kind == "managed";
    } else if (kind == "pinned") {
      pinned_ = pinned_memory(size_bytes);
      address_ = reinterpret_cast<Address>(pinned_.get());
    } else if (kind == "host") {
      host_ = Buffer(size_bytes);
      address_ = reinterpret_cast<Address>(host_.bytes().data());
    } else {
      throw InputError("memory is host, pinned, managed or device");
    }
  }
  [[nodiscard]] bool is_of_device() const { return device_.get() != 0; }
  [[nodiscard]] Address address() const { return address_; }
  [[nodiscard]] std::size_t size_bytes() const { return size_bytes_; }
  [[nodiscard]] std::byte* data() const { return reinterpret_cast<std::byte*>(address_); }

  void write(std::uint32_t seed) const {
    if (!is_of_device() || is_managed_) return fill({data(), size_bytes_}, seed);
    gpu_.kernels().fill(address_, size_bytes_, seed);
  }
  [[nodiscard]] bool has(std::uint32_t seed) const {
    if (!is_of_device() || is_managed_) return holds({data(), size_bytes_}, seed);
    return gpu_.kernels().holds(address_, size_bytes_, seed);
  }
  /// Brings managed memory to the host, as a program does that writes its message there.
  void touch() const {
    if (!is_managed_) return;
    for (std::size_t at = 0; at < size_bytes_; at += page_bytes) {
      volatile std::byte* byte = data() + at;
      *byte = *byte;
    }
  }

 private:
  ReadyGpu& gpu_;
  std::size_t size_bytes_;
  DeviceMemory device_;
  PinnedMemory pinned_;
  Buffer host_{0};
  Address address_ = 0;
  bool is_managed_ = false;
};

class Copy : public Pattern {
 public:
  Copy(ReadyGpu& gpu, const HostClock& clock, const Case& point)
      : gpu_(gpu),
        times_(gpu.stream.get(), clock),
        size_bytes_(sized(point)),
        from_(gpu, side(point, true), size_bytes_),
        to_(gpu, side(point, false), size_bytes_) {
    if (!from_.is_of_device() && !to_.is_of_device())
      throw InputError("one side of axis memory is device or managed");
  }
  void run(std::uint64_t rounds) override {
    for (std::uint64_t i = 0; i < rounds; ++i) times_.run([&] { copy(); });
  }
  std::vector<Value> values() override {
    return times_.values([&] { copy(); });
  }
  void prepare() override {
    from_.touch();
    to_.touch();
  }
  bool verify() override {
    ++seed_;
    from_.write(seed_);
    to_.write(seed_ + 1);
    run(1);
    return to_.has(seed_);
  }
  bool is_right() override { return to_.has(seed_); }

 private:
  void copy() const {
    const auto& calls = driver();
    Stream stream = gpu_.stream.get();
    calls.check(!from_.is_of_device()
                    ? calls.copy_in_async(to_.address(), from_.data(), size_bytes_, stream)
                : !to_.is_of_device()
                    ? calls.copy_out_async(to_.data(), from_.address(), size_bytes_, stream)
                    : calls.copy_within_async(to_.address(), from_.address(), size_bytes_, stream),
                "copy");
  }
  static std::size_t sized(const Case& point) {
    if (point.size_bytes == 0) throw InputError("a copy has 1 byte or more");
    return point.size_bytes;
  }
  static std::string side(const Case& point, bool is_first) {
    const auto words = point.axes.text("memory", "pinned-device");
    const auto dash = words.find('-');
    if (dash == std::string::npos) return words;
    return is_first ? words.substr(0, dash) : words.substr(dash + 1);
  }

  ReadyGpu& gpu_;
  ThreeTimes times_;
  std::size_t size_bytes_;
  Place from_, to_;
  std::uint32_t seed_ = 1;
};

inline constexpr AxisInfo flag_axes[] = {which_gpu};
inline constexpr PatternInfo flag_info{
    .name = "gpu-flag",
    .what = "a number in mapped host memory, from the processor to the GPU and back",
    .ranks_min = 1,
    .rounds_min = 100,
    .timing = Timing::inner,
    .axes = flag_axes,
    .sized = false};

class Flag : public Pattern {
 public:
  Flag(ReadyGpu& gpu, const HostClock& clock) : gpu_(gpu), clock_(clock) {
    driver().check(driver().pinned_address(&address_, memory_.get(), 0), "mapped memory");
  }
  /// The round before those that are timed waits for the kernel to start.
  void run(std::uint64_t rounds) override {
    const std::atomic_ref<std::uint32_t> flag(*static_cast<std::uint32_t*>(memory_.get()));
    flag.store(0);
    launch(kernel_, 1, 1, gpu_.stream.get(), address_, static_cast<std::uint32_t>(rounds + 1));
    double start_s = 0;
    answered_ = true;
    for (std::uint32_t i = 0; i <= rounds && answered_; ++i) {
      if (i == 1) start_s = clock_.now_s();
      flag.store(2 * i + 1, std::memory_order_release);
      answered_ = await(flag, 2 * i + 2);
    }
    timed_s_ = clock_.now_s() - start_s;
    if (!answered_) throw InputError("the GPU did not answer a flag within 10 s");
    synchronise(gpu_.stream.get());
  }
  bool verify() override {
    run(1);
    return answered_;
  }
  [[nodiscard]] std::optional<double> timed_s() const override { return timed_s_; }

 private:
  static bool await(const std::atomic_ref<std::uint32_t>& flag, std::uint32_t value) {
    constexpr double limit_s = 10;
    constexpr std::uint32_t looks = 1U << 16;
    const SteadyClock clock;
    const double end_s = clock.now_s() + limit_s;
    for (std::uint32_t i = 1; flag.load(std::memory_order_acquire) != value; ++i)
      if (i % looks == 0) {
        if (clock.now_s() > end_s) return false;
        std::this_thread::yield();
      }
    return true;
  }

  ReadyGpu& gpu_;
  const HostClock& clock_;
  OwnedModule module_ = module(loop_kernels);
  Function kernel_ = function(module_, "nhalf_flag");
  PinnedMemory memory_ = pinned_memory(page_bytes);
  Address address_ = 0;
  double timed_s_ = 0;
  bool answered_ = false;
};
}  // namespace nhalf::gpu
