#include "host/gpu_driver.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "gpu_child.hpp"
#include "host/gpu_kernels.hpp"

namespace gpu = nhalf::gpu;
using nhalf::gpu::Fault;
using nhalf::gpu::in_child;

namespace {
bool is_fault(const std::string& line, Fault fault, std::string_view words) {
  CAPTURE(line);
  return line.starts_with(std::to_string(static_cast<int>(fault)) + " ") &&
         line.find(words) != std::string::npos && line.find('\n') == std::string::npos;
}

std::string take_memory() {
  const gpu::Device device(0);
  const auto memory = gpu::device_memory(4096);
  device.require_current();
  return "done";
}

/// The number of wrong bytes after `spoil` has worked on memory that a kernel filled.
std::uint64_t wrong_bytes(std::size_t size_bytes, const std::function<void(gpu::Address)>& spoil) {
  const gpu::Device device(0);
  const auto memory = gpu::device_memory(size_bytes);
  const auto sum = gpu::device_memory(sizeof(std::uint64_t));
  const auto stream = gpu::stream();
  const auto kernels = gpu::module(gpu::kernels().c_str());
  const std::uint32_t seed = 7;
  gpu::launch(gpu::function(kernels, "nhalf_fill"), 2, 64, stream.get(), memory.get(),
              std::uint64_t{size_bytes}, seed);
  gpu::synchronise(stream.get());
  spoil(memory.get());
  gpu::driver().check(gpu::driver().set_bytes(sum.get(), 0, 8), "zero");
  gpu::launch(gpu::function(kernels, "nhalf_verify"), 2, 64, stream.get(), memory.get(),
              std::uint64_t{size_bytes}, seed, sum.get());
  gpu::synchronise(stream.get());
  std::uint64_t wrong = 0;
  gpu::driver().check(gpu::driver().copy_out(&wrong, sum.get(), sizeof wrong), "copy");
  return wrong;
}
}  // namespace

TEST_CASE("what is wrong with a GPU driver is said in one line, by its kind") {
  CHECK(in_child({}, take_memory) == "done");
  CHECK(is_fault(in_child({{"NHALF_CUDA_LIBRARY", "/nowhere/libcuda.so.1"}}, take_memory),
                 Fault::no_library, "NHALF_CUDA_LIBRARY"));
  CHECK(is_fault(in_child({{"NHALF_CUDA_LIBRARY", "libm.so.6"}}, take_memory), Fault::no_symbol,
                 "libm.so.6 has no cuInit"));
  CHECK(is_fault(in_child({{"NHALF_CUDA_LIBRARY", NHALF_GPU_STAND_IN_WITHOUT_LAUNCH}}, take_memory),
                 Fault::no_symbol, "has no cuLaunchKernel"));
  const auto with = [](const char* fault) {
    return in_child({{"NHALF_STAND_IN_FAULT", fault}}, take_memory);
  };
  CHECK(is_fault(with("old-driver"), Fault::old_driver, "CUDA 10.2; CUDA 11.0 or newer"));
  CHECK(is_fault(with("no-device"), Fault::no_device, "finds no GPU"));
  CHECK(is_fault(with("out-of-memory"), Fault::out_of_memory, "CUDA_ERROR_OUT_OF_MEMORY"));
  CHECK(is_fault(with("busy"), Fault::another_context, "another context"));
  CHECK(is_fault(with("foreign-context"), Fault::another_context, "another context"));
  CHECK(is_fault(in_child({{"NHALF_STAND_IN_DEVICES", "0"}}, take_memory), Fault::no_device,
                 "the driver shows 0"));
}

TEST_CASE("a driver that failed is tried again") {
  const auto twice = [] {
    setenv("NHALF_STAND_IN_FAULT", "no-device", 1);
    try {
      gpu::driver();
    } catch (const gpu::DriverError&) {
      unsetenv("NHALF_STAND_IN_FAULT");
    }
    return take_memory();
  };
  CHECK(in_child({}, twice) == "done");
}

TEST_CASE("a host that reads device memory is ended, one that reads pinned or managed is not") {
  const auto reads = [](const std::function<const void*()>& take) {
    return in_child({}, [&] {
      const gpu::Device device(0);
      return std::to_string(*static_cast<const volatile char*>(take()));
    });
  };
  static gpu::DeviceMemory memory;
  static gpu::PinnedMemory pinned;
  CHECK(reads([] {
          memory = gpu::device_memory(64);
          return reinterpret_cast<const void*>(memory.get());
        }) == "signal " + std::to_string(SIGSEGV));
  CHECK(reads([] {
          memory = gpu::managed_memory(64);
          return reinterpret_cast<const void*>(memory.get());
        }) == "0");
  CHECK(reads([] {
          pinned = gpu::pinned_memory(64);
          return static_cast<const void*>(pinned.get());
        }) == "0");
}

TEST_CASE("bytes are written and verified on the device, and one wrong one is found") {
  const auto count = [](std::size_t size_bytes, const std::function<void(gpu::Address)>& spoil) {
    return in_child({}, [&] { return std::to_string(wrong_bytes(size_bytes, spoil)); });
  };
  const auto nothing = [](gpu::Address) {};
  CHECK(count(1, nothing) == "0");
  CHECK(count(3 * 4093 + 5, nothing) == "0");
  CHECK(count(10000, [](gpu::Address at) {
          std::byte value{};
          gpu::driver().copy_out(&value, at + 9999, 1);
          value ^= std::byte{1};
          gpu::driver().copy_in(at + 9999, &value, 1);
        }) == "1");
  // What a kernel fills is what the host would have.
  const auto host = [] {
    std::string text;
    wrong_bytes(5000, [&](gpu::Address at) {
      text.resize(5000);
      gpu::driver().copy_out(text.data(), at, text.size());
    });
    for (std::uint32_t at = 0; at < text.size(); ++at) {
      const std::uint32_t mixed = (at % 4093 + 1) * 2654435761U + 7 * 40503U;
      if (text[at] != static_cast<char>((mixed >> 13) ^ mixed)) return std::to_string(at);
    }
    return std::string("same");
  };
  CHECK(in_child({}, host) == "same");
  const auto there_and_back = [](gpu::Address at) {
    std::array<std::byte, 100> data{};
    gpu::driver().copy_out(data.data(), at, data.size());
    gpu::driver().copy_in(at, data.data(), data.size());
  };
  CHECK(count(100, there_and_back) == "0");
  CHECK(in_child({{"NHALF_STAND_IN_FAULT", "wrong-data"}},
                 [&] { return std::to_string(wrong_bytes(100, there_and_back)); }) == "1");
}

TEST_CASE("events show the device's own time, and the clock kernel how fast it runs") {
  const auto elapsed = [] {
    const gpu::Device device(0);
    const auto stream = gpu::stream();
    const auto first = gpu::event();
    const auto last = gpu::event();
    const auto times = gpu::device_memory(32);
    const auto kernels = gpu::module(gpu::kernels().c_str());
    const auto& driver = gpu::driver();
    driver.event_record(first.get(), stream.get());
    gpu::launch(gpu::function(kernels, "nhalf_clock"), 1, 1, stream.get(), times.get(),
                std::uint64_t{3'000'000});
    driver.event_record(last.get(), stream.get());
    gpu::synchronise(stream.get());
    float milliseconds = 0;
    driver.check(driver.event_elapsed(&milliseconds, first.get(), last.get()), "time");
    std::array<std::uint64_t, 4> read{};
    driver.check(driver.copy_out(read.data(), times.get(), sizeof read), "copy");
    const double ns = static_cast<double>(read[3] - read[1]);
    return std::to_string(std::lround(milliseconds * 1e3F)) + " us, " +
           std::to_string(std::lround(static_cast<double>(read[2] - read[0]) / ns * 1e3)) + " MHz";
  };
  CHECK(in_child({{"NHALF_STAND_IN_CLOCK_HZ", "1.5e9"}, {"NHALF_STAND_IN_LAUNCH_S", "2e-5"}},
                 elapsed) == "2020 us, 1500 MHz");
}

TEST_CASE("another process opens device memory and writes to it") {
  const auto shared = [] {
    const gpu::Device device(0);
    const auto memory = gpu::device_memory(4096);
    gpu::SharedHandle handle;
    gpu::driver().check(gpu::driver().share(&handle, memory.get()), "handle");
    const auto child = fork();
    if (child == 0) {
      gpu::Address address = 0;
      const int opened = gpu::driver().share_open(&address, handle, 1);
      const gpu::OpenedMemory held(address);
      _exit(opened == 0 ? gpu::driver().set_bytes(held.get(), 9, 4096) : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    char last = 0;
    gpu::driver().copy_out(&last, memory.get() + 4095, 1);
    return std::to_string(status) + " " + std::to_string(last);
  };
  CHECK(in_child({}, shared) == "0 9");
}
