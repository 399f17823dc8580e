// GPUs of AMD: HIP has the calls of the CUDA driver by other names, and compiles kernels from text
// of C++. This was tested with a stand-in alone, and on no GPU of AMD.
#pragma once

#include <dlfcn.h>

#include <utility>

#include "contract/vocabulary.hpp"

namespace nhalf::gpu {
/// The files of HIP: by the name that a developer's package has, then of its releases.
inline constexpr std::array hip_files{"libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6",
                                      "libamdhip64.so.5"};

/// The name in HIP of a call of the CUDA driver. Source: HIP's table of the driver's functions.
inline std::string hip_name(std::string_view symbol) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 11> others{
      {{"cuGetErrorName", "hipDrvGetErrorName"},
       {"cuDeviceGetCount", "hipGetDeviceCount"},
       {"cuMemAlloc", "hipMalloc"},
       {"cuMemFree", "hipFree"},
       {"cuMemHostAlloc", "hipHostMalloc"},
       {"cuMemHostGetDevicePointer", "hipHostGetDevicePointer"},
       {"cuMemFreeHost", "hipHostFree"},
       {"cuMemAllocManaged", "hipMallocManaged"},
       {"cuStreamCreate", "hipStreamCreateWithFlags"},
       {"cuEventCreate", "hipEventCreateWithFlags"},
       {"cuLaunchKernel", "hipModuleLaunchKernel"}}};
  if (symbol.ends_with("_v2")) symbol.remove_suffix(3);
  for (const auto& [cuda, hip] : others)
    if (symbol == cuda) return std::string(hip);
  return "hip" + std::string(symbol.substr(2));
}

/// What kernels() of NVIDIA's GPUs do; the clock does not tell how fast it runs.
inline constexpr const char* hip_kernels = R"(
typedef unsigned long long Long;
__device__ unsigned char wanted(Long at, unsigned seed) {
  const unsigned mixed = (unsigned)(at % 4093 + 1) * 2654435761U + seed * 40503U;
  return (unsigned char)((mixed >> 13) ^ mixed);
}
extern "C" __global__ void nhalf_fill(unsigned char* data, Long size_bytes, unsigned seed) {
  const Long step = (Long)gridDim.x * blockDim.x;
  for (Long at = (Long)blockIdx.x * blockDim.x + threadIdx.x; at < size_bytes; at += step)
    data[at] = wanted(at, seed);
}
extern "C" __global__ void nhalf_verify(const unsigned char* data, Long size_bytes, unsigned seed,
                                        Long* wrong) {
  const Long step = (Long)gridDim.x * blockDim.x;
  Long count = 0;
  for (Long at = (Long)blockIdx.x * blockDim.x + threadIdx.x; at < size_bytes; at += step)
    count += data[at] != wanted(at, seed);
  if (count > 0) atomicAdd(wrong, count);
}
extern "C" __global__ void nhalf_clock(Long* times, Long) {
  for (int i = 0; i < 4; ++i) times[i] = 0;
}
)";

/// Code for the current GPU from such text, by the compiler of HIP: in a library of its own since
/// HIP 7, before in that of the driver, too. Empty where that cannot be.
inline std::string hip_code(void* library, const char* text) {
  using Program = struct ProgramState*;
  void* compiler = dlsym(library, "hiprtcCreateProgram") != nullptr ? library : nullptr;
  for (const char* file : {"libhiprtc.so", "libhiprtc.so.7", "libhiprtc.so.6"})
    if (compiler == nullptr) compiler = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (compiler == nullptr) return "";
  const auto call = [&]<class... Arguments>(const char* name, Arguments... arguments) {
    const auto function = reinterpret_cast<int (*)(Arguments...)>(dlsym(compiler, name));
    return function != nullptr && function(arguments...) == 0;
  };
  Program program = nullptr;
  std::size_t size_bytes = 0;
  const char** nothing = nullptr;
  std::string code;
  if (!call("hiprtcCreateProgram", &program, text, "nhalf.hip", 0, nothing, nothing)) return code;
  if (call("hiprtcCompileProgram", program, 0, nothing) &&
      call("hiprtcGetCodeSize", program, &size_bytes)) {
    code.resize(size_bytes);
    if (!call("hiprtcGetCode", program, code.data())) code.clear();
  }
  call("hiprtcDestroyProgram", &program);
  return code;
}
}  // namespace nhalf::gpu
