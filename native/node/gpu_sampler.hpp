// Samples operations of a GPU on the host's clock, and looks at the GPU's own clock beside each.
#pragma once

#include <thread>

#include "host/gpu_condition.hpp"
#include "host/gpu_memory.hpp"
#include "timing/sampler.hpp"

namespace nhalf::gpu {
/// The host's clock. A driver whose time is its own, as that of the tests, brings another one: then
/// the work of the device takes what the driver says, and the host takes no time.
class HostClock {
 public:
  static constexpr std::string_view name = SteadyClock::name;

  HostClock() {
    const char* file = std::getenv("NHALF_CUDA_LIBRARY");
    void* library = file == nullptr ? nullptr : dlopen(file, RTLD_NOW | RTLD_NOLOAD);
    if (library != nullptr)
      virtual_s_ = reinterpret_cast<double (*)()>(dlsym(library, "nhalf_stand_in_now_s"));
  }
  [[nodiscard]] double now_s() const {
    return virtual_s_ == nullptr ? clock_.now_s() : virtual_s_();
  }
  [[nodiscard]] bool is_virtual() const { return virtual_s_ != nullptr; }

  void pause(double time_s) const {
    if (!is_virtual()) std::this_thread::sleep_for(std::chrono::duration<double>(time_s));
  }

 private:
  SteadyClock clock_;
  double (*virtual_s_)() = nullptr;
};

/// A GPU that is ready for work: its context, a stream and the kernels.
struct ReadyGpu {
  /// `wait` is how a host that waits for the device does: one of `wait_names`. Throws DriverError
  /// where there are no kernels for it: of HIP the clock does not tell how fast it runs.
  ReadyGpu(int number, std::size_t wait) : device((schedule(number, wait), number)) {
    static_cast<void>(driver().code("", nullptr));
  }
  static constexpr std::string_view wait_names[] = {"spin", "yield", "block"};

  Device device;
  ConditionWitness condition{device.pci_address()};
  /// How many processes of this one, itself included, are on it.
  std::size_t processes = 1;
  OwnedStream stream = gpu::stream();

  /// Made when a point needs them, since they take memory.
  GpuKernels& kernels() {
    if (!kernels_) kernels_.emplace();
    return *kernels_;
  }

 private:
  static void schedule(int number, std::size_t wait) {
    constexpr unsigned flags[] = {1, 2, 4};
    int device = 0;
    if (number < 0 || number >= device_count()) return;  // the device says so itself
    driver().check(driver().device(&device, number), "device");
    driver().check(driver().context_set_flags(device, flags[wait]), "how to wait");
  }

  std::optional<GpuKernels> kernels_;
};

/// Warns of a clock that is held down, and of others on the GPU, as just after the last sample.
inline void warn_of(const ReadyGpu& gpu, Measurement& result) {
  const auto condition = gpu.condition.look();
  if (!condition.is_known) return;
  result.values.push_back({"gpu_clock_reasons", static_cast<double>(condition.clock_reasons)});
  if (!condition.held_back_by().empty()) result.advice.emplace_back("slow-gpu");
  if (condition.processes > gpu.processes) result.advice.emplace_back("busy-gpu");
}

/// Samples a pattern, each sample after `prepare`, which is not timed. A pattern that times itself
/// (`timed_s`) is taken at its word.
inline Measurement measure(Pattern& pattern, const PatternInfo& info, ReadyGpu& gpu,
                           HostClock& clock, double overhead_s, const Effort& effort) {
  constexpr int warm_up = 3;
  constexpr std::uint64_t clock_cycles = 200'000;
  const auto rounds = info.rounds_min;
  const double messages = info.messages_per_round;
  Measurement result;
  const double began_s = clock.now_s();
  result.batch_rounds = rounds;
  result.verified = pattern.verify();
  if (!result.verified) return result;
  const auto& kernels = gpu.kernels();
  Criterion criterion(effort);
  std::vector<double> clocks_hz;
  double spent_s = 0;
  for (int i = 0; i < warm_up; ++i) pattern.run(rounds);
  while (result.stop == Stop::none) {
    pattern.prepare();
    const double start_s = clock.now_s();
    pattern.run(rounds);
    const double time_s = pattern.timed_s().value_or(clock.now_s() - start_s) - overhead_s;
    result.samples_s.push_back(std::max(time_s, 0.0) / (static_cast<double>(rounds) * messages));
    clocks_hz.push_back(kernels.clock_hz(clock_cycles));
    spent_s += time_s;
    result.stop = criterion.decide(result.samples_s, spent_s);
  }
  result.verified = pattern.is_right();
  result.values = pattern.values();
  const auto last = static_cast<double>(clocks_hz.size() - 1);
  for (const auto& [name, share] :
       {std::pair{"gpu_clock_p10_hz", 0.1}, {"gpu_clock_hz", 0.5}, {"gpu_clock_p90_hz", 0.9}})
    result.values.push_back(
        {name, order_statistic(clocks_hz, static_cast<std::size_t>(std::lround(share * last)))});
  warn_of(gpu, result);
  result.elapsed_s = clock.now_s() - began_s;
  return result;
}
}  // namespace nhalf::gpu
