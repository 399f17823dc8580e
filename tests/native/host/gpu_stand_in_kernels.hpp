// What the stand-in of a GPU's driver runs: nhalf's kernels, known by the names of their entries.
#pragma once

#include <array>
#include <atomic>

#include "gpu_stand_in_memory.hpp"

namespace {
std::byte expected(std::size_t at, std::uint32_t seed) {
  const auto mixed = static_cast<std::uint32_t>(at % 4093 + 1) * 2654435761U + seed * 40503U;
  return static_cast<std::byte>((mixed >> 13) ^ mixed);
}

template <class Value>
Value argument(void** arguments, int number) {
  Value value;
  std::memcpy(&value, arguments[number], sizeof value);
  return value;
}

int run_fill(void** arguments) {
  const auto size_bytes = argument<std::uint64_t>(arguments, 1);
  std::byte* data = behind(argument<Address>(arguments, 0), size_bytes, false);
  if (data == nullptr) return invalid_value;
  for (std::size_t at = 0; at < size_bytes; ++at)
    data[at] = expected(at, argument<std::uint32_t>(arguments, 2));
  return success;
}

int run_verify(void** arguments) {
  const auto size_bytes = argument<std::uint64_t>(arguments, 1);
  const std::byte* data = behind(argument<Address>(arguments, 0), size_bytes, false);
  std::byte* sum = behind(argument<Address>(arguments, 3), sizeof(std::uint64_t), false);
  if (data == nullptr || sum == nullptr) return invalid_value;
  std::uint64_t wrong = 0;
  std::memcpy(&wrong, sum, sizeof wrong);
  for (std::size_t at = 0; at < size_bytes; ++at)
    if (data[at] != expected(at, argument<std::uint32_t>(arguments, 2))) ++wrong;
  std::memcpy(sum, &wrong, sizeof wrong);
  return success;
}

int run_clock(void** arguments) {
  const auto cycles = argument<std::uint64_t>(arguments, 1);
  const double clock_hz = setting("NHALF_STAND_IN_CLOCK_HZ", 1e9);
  std::byte* times = behind(argument<Address>(arguments, 0), 4 * sizeof(std::uint64_t), false);
  if (times == nullptr) return invalid_value;
  const double start_s = state().device_s;
  const double end_s = start_s + static_cast<double>(cycles) / clock_hz;
  const std::array<std::uint64_t, 4> readings{
      static_cast<std::uint64_t>(start_s * clock_hz), static_cast<std::uint64_t>(start_s * 1e9),
      static_cast<std::uint64_t>(start_s * clock_hz) + cycles,
      static_cast<std::uint64_t>(end_s * 1e9)};
  std::memcpy(times, readings.data(), sizeof readings);
  state().device_s = end_s;
  return success;
}

int run_empty(void**) {
  return success;
}

/// Answers flags in a thread of its own, each after NHALF_STAND_IN_FLAG_S of the device's time.
int run_flag(void** arguments) {
  auto* flag = reinterpret_cast<std::uint32_t*>(argument<Address>(arguments, 0));
  const auto rounds = argument<std::uint32_t>(arguments, 1);
  state().running = std::thread([=] {
    const std::atomic_ref<std::uint32_t> seen(*flag);
    for (std::uint32_t i = 0; i < rounds; ++i) {
      while (seen.load() != 2 * i + 1) std::this_thread::yield();
      const std::lock_guard hold(state().lock);
      state().host_s += setting("NHALF_STAND_IN_FLAG_S", 2e-6);
      state().device_s = std::max(state().device_s, state().host_s);
      seen.store(2 * i + 2);
    }
  });
  return success;
}

/// The kernels that the stand-in knows, by the names of their entries.
struct Kernel {
  const char* name;
  int (*run)(void** arguments);
};
constexpr std::array known_kernels{
    Kernel{"nhalf_fill", run_fill}, Kernel{"nhalf_verify", run_verify},
    Kernel{"nhalf_clock", run_clock}, Kernel{"nhalf_empty", run_empty},
    Kernel{"nhalf_flag", run_flag}};
}  // namespace
