#include "host/level_zero.hpp"

#include <doctest/doctest.h>

#include "gpu_buffers.hpp"

namespace gpu = nhalf::gpu;
using nhalf::gpu::MemoryKind;

namespace {
/// Runs `work` with the stand-in of Level Zero, with a fault planted.
std::string with_level_zero(const std::function<std::string()>& work, const std::string& fault = "",
                            const char* library = NHALF_LEVEL_ZERO_STAND_IN) {
  return gpu::in_child({{"NHALF_LEVEL_ZERO_LIBRARY", library}, {"NHALF_STAND_IN_FAULT", fault}},
                       work);
}

std::string on_device() {
  return gpu::filled(MemoryKind::device, false);
}
}  // namespace

TEST_CASE("buffers in memory of a GPU of Intel are filled and verified by copies") {
  for (const auto kind : {MemoryKind::pinned, MemoryKind::managed, MemoryKind::device}) {
    CAPTURE(static_cast<int>(kind));
    CHECK(with_level_zero([=] { return gpu::filled(kind, false); }) == "right");
    CHECK(with_level_zero([=] { return gpu::filled(kind, true); }) == "wrong");
  }
  CHECK(with_level_zero(on_device, "wrong-data") == "wrong");
}

TEST_CASE("device memory of Level Zero begins with zeros, and the host cannot read it") {
  CHECK(with_level_zero([] {
          nhalf::memory_source = gpu::memory_of(MemoryKind::device, 0);
          nhalf::Buffer buffer(100);
          nhalf::OnHost reachable(nhalf::ConstBytes(buffer.bytes()));
          const auto bytes = reachable.bytes();
          return std::string(
              std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; }) ? "zeros"
                                                                                        : "others");
        }) == "zeros");
  CHECK(with_level_zero([] {
          nhalf::memory_source = gpu::memory_of(MemoryKind::device, 0);
          nhalf::Buffer buffer(100);
          return std::to_string(*reinterpret_cast<volatile char*>(buffer.bytes().data()));
        }) == "signal " + std::to_string(SIGSEGV));
}

TEST_CASE("memory of Level Zero is given back, and where the GPU is, is known") {
  CHECK(with_level_zero([] {
          nhalf::memory_source = gpu::memory_of(MemoryKind::managed, 0);
          nhalf::Buffer buffer(100);
          buffer = nhalf::Buffer(0);
          return std::to_string(gpu::allocations().size()) + " " +
                 gpu::Gpu::of(0).device().pci_address() + " " +
                 std::to_string(gpu::Gpu::of(0).clock_hz() == 0);
        }) == "0 0000:a0:00.0 1");
}

TEST_CASE("what is wrong with Level Zero is said in one line") {
  const auto says = [](const std::string& line, std::string_view words) {
    CAPTURE(line);
    return line.find(words) != std::string::npos && line.find('\n') == std::string::npos;
  };
  CHECK(says(with_level_zero(on_device, "", "/nowhere/libze_loader.so.1"),
             "of Level Zero in NHALF_LEVEL_ZERO_LIBRARY"));
  CHECK(says(with_level_zero(on_device, "", "libm.so.6"), "libm.so.6 has no zeInit"));
  CHECK(says(with_level_zero(on_device, "", NHALF_LEVEL_ZERO_STAND_IN_WITHOUT_FILL),
             "has no zeCommandListAppendMemoryFill"));
  CHECK(says(with_level_zero(on_device, "no-device"), "the driver finds no GPU"));
  CHECK(says(with_level_zero(on_device, "lost"), "ZE_RESULT_ERROR_DEVICE_LOST"));
  CHECK(says(with_level_zero(
                 [] {
                   try {
                     return on_device();
                   } catch (const nhalf::InputError& error) {
                     return std::string(error.what());
                   }
                 },
                 "out-of-memory"),
             "the GPU has not enough free memory"));
  CHECK(says(gpu::in_child({{"NHALF_LEVEL_ZERO_LIBRARY", NHALF_LEVEL_ZERO_STAND_IN},
                            {"NHALF_STAND_IN_DEVICES", "0"}},
                           on_device),
             "the driver finds no GPU"));
}

TEST_CASE("what Level Zero cannot do is refused") {
  CHECK(with_level_zero([] {
          const gpu::Device first(0);
          gpu::module("");
          return std::string("loaded");
        }).find("here is Level Zero") != std::string::npos);
  CHECK(with_level_zero([] {
          const gpu::Device first(0);
          gpu::stream();
          return std::string("made");
        }).find("refused") != std::string::npos);
}
