// What the drivers of GPUs pass and answer, in the words of the CUDA driver.
#pragma once

#include "contract/vocabulary.hpp"

namespace nhalf::gpu {
using Address = std::uint64_t;
using Context = struct ContextState*;
using Stream = struct StreamState*;
using Event = struct EventState*;
using Module = struct ModuleState*;
using Function = struct FunctionState*;
using Graph = struct GraphState*;
using GraphProgram = struct GraphProgramState*;

/// By which another process opens the same memory.
struct SharedHandle {
  std::array<char, 64> bytes{};
};

/// Results of the driver (enum CUresult) that are told apart here.
enum Result : int {
  success = 0,
  out_of_memory = 2,
  stub_library = 34,
  device_unavailable = 46,
  no_device = 100,
  invalid_context = 201,
  unsupported_ptx = 222,
  not_ready = 600,
  context_destroyed = 709,
  not_supported = 801,
};
}  // namespace nhalf::gpu
