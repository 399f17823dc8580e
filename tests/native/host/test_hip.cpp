#include "host/hip.hpp"

#include <doctest/doctest.h>

#include "gpu_buffers.hpp"

namespace gpu = nhalf::gpu;

namespace {
/// Runs `work` with the stand-in of HIP, with a fault planted.
std::string with_hip(const std::function<std::string()>& work, const std::string& fault = "") {
  return gpu::in_child({{"NHALF_HIP_LIBRARY", NHALF_HIP_STAND_IN}, {"NHALF_STAND_IN_FAULT", fault}},
                       work);
}
}  // namespace

TEST_CASE("names of HIP follow those of the driver, but for some") {
  CHECK(gpu::hip_name("cuInit") == "hipInit");
  CHECK(gpu::hip_name("cuMemcpyHtoDAsync_v2") == "hipMemcpyHtoDAsync");
  CHECK(gpu::hip_name("cuMemAlloc_v2") == "hipMalloc");
  CHECK(gpu::hip_name("cuLaunchKernel") == "hipModuleLaunchKernel");
}

TEST_CASE("buffers in memory of a GPU of AMD are filled and verified there") {
  CHECK(with_hip([] { return gpu::filled(gpu::MemoryKind::device, false); }) == "right");
  CHECK(with_hip([] { return gpu::filled(gpu::MemoryKind::device, true); }) == "wrong");
  CHECK(with_hip([] { return std::to_string(gpu::Gpu::of(0).clock_hz() >= 0); }) == "1");
}

TEST_CASE("what HIP lacks is said in one line") {
  const auto device = [] { return gpu::filled(gpu::MemoryKind::device, false); };
  CHECK(with_hip(device, "no-compiler").find("libhiprtc.so") != std::string::npos);
  CHECK(with_hip(device, "no-device").find("finds no GPU") != std::string::npos);
  CHECK(with_hip([] {
          const gpu::Device first(0);
          gpu::module(gpu::kernels().c_str());
          return std::string("loaded");
        }).find("GPUs of NVIDIA only") != std::string::npos);
}
