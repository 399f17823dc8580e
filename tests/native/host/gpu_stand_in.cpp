// A libcuda.so.1 for hosts without a GPU. Its device memory is a file without a name: the address
// that programs get cannot be read or written, so that a host that touches it is caught; copies and
// kernels go by a second mapping. Kernels of nhalf are known by the names of their entries. Times
// of host and device are virtual and exact, whatever this host is doing.
//
// By environment: NHALF_STAND_IN_FAULT plants old-driver, no-device, out-of-memory, busy (another
// process has the device to itself), others-busy (all but the first), foreign-context or wrong-data
// (each copy to the device spoils a bit); a missing symbol is planted by compiling with
// NHALF_STAND_IN_WITHOUT_LAUNCH. NHALF_STAND_IN_DEVICES is their number, NHALF_STAND_IN_WAITS=1
// lets a host that synchronises wait as long as the device says. Times: NHALF_STAND_IN_LAUNCH_S
// (5e-6), NHALF_STAND_IN_COPY_S (1e-6), NHALF_STAND_IN_BYTES_PER_S (1e10), NHALF_STAND_IN_CLOCK_HZ
// (1e9), NHALF_STAND_IN_FLAG_S (2e-6), NHALF_STAND_IN_NODE_S (a kernel in a graph: 1e-6),
// NHALF_STAND_IN_GRAPH_S (to instantiate one: 1e-5); of the host NHALF_STAND_IN_CALL_S (a call that
// gives work: 0) and NHALF_STAND_IN_WAIT_S (a wait, beyond the end of the work: 0).
// NHALF_STAND_IN_SLOW_COPIES_IN (1) is how many times as long copies from the host to the device
// take.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>
#include <utility>
#include <vector>

#include "gpu_stand_in_kernels.hpp"

/// What stands before the name of a kernel in its text.
#ifndef NHALF_STAND_IN_ENTRY
#define NHALF_STAND_IN_ENTRY ".entry "
#endif

namespace {
struct Handle {
  std::array<char, 64> bytes;
};

/// A host that waits for the device waits until then, if it is to.
int wait_for_device(double since_s) {
  if (setting("NHALF_STAND_IN_WAITS", 0) > 0)
    std::this_thread::sleep_for(std::chrono::duration<double>(state().device_s - since_s));
  return success;
}

/// What another library puts on a stream.
struct Task {
  void (*run)(void*);
  void* data;
};
struct Stream {
  double waited_s = 0;
  /// Kernels of a graph that is captured; below 0 if none is.
  int captured = -1;
  std::vector<Task> tasks{};
};
struct Graph {
  int kernels = 0;
  std::vector<Task> tasks{};
};
struct Event {
  double recorded_s = 0;
};

/// The result of work for which the host waits.
int waited(int result) {
  const std::lock_guard hold(state().lock);
  wait_for_end();
  return result;
}
}  // namespace

extern "C" {
/// The host's virtual time, for programs that are to take it for theirs.
double nhalf_stand_in_now_s() {
  const std::lock_guard hold(state().lock);
  return state().host_s;
}
int cuInit(unsigned) {
  if (planted("no-device")) return no_device;
  return success;
}
int cuDriverGetVersion(int* version) {
  *version = planted("old-driver") ? 10020 : 13000;
  return success;
}
int cuGetErrorName(int result, const char** name) {
  switch (result) {
    case out_of_memory:
      *name = "CUDA_ERROR_OUT_OF_MEMORY";
      return success;
    case device_unavailable:
      *name = "CUDA_ERROR_DEVICE_UNAVAILABLE";
      return success;
    case no_device:
      *name = "CUDA_ERROR_NO_DEVICE";
      return success;
    case not_found:
      *name = "CUDA_ERROR_NOT_FOUND";
      return success;
    default:
      *name = "CUDA_ERROR_INVALID_VALUE";
      return success;
  }
}
int cuDeviceGetCount(int* count) {
  *count = static_cast<int>(setting("NHALF_STAND_IN_DEVICES", 1));
  return success;
}
int cuDeviceGet(int* device, int number) {
  *device = number;
  return success;
}
int cuDeviceGetName(char* name, int room, int) {
  std::snprintf(name, static_cast<std::size_t>(room), "stand-in");
  return success;
}
int cuDeviceGetAttribute(int* value, int, int) {
  *value = 1;
  return success;
}
int cuDeviceGetPCIBusId(char* text, int room, int device) {
  const char* given = std::getenv("NHALF_STAND_IN_PCI");
  if (given != nullptr)
    std::snprintf(text, static_cast<std::size_t>(room), "%.12s", given + 13 * device);
  else
    std::snprintf(text, static_cast<std::size_t>(room), "0000:%02X:00.0", 0xA0 + device);
  return success;
}
int cuDevicePrimaryCtxRetain(void** context, int device) {
  if (planted("busy") || (planted("others-busy") && device > 0)) return device_unavailable;
  ++state().retained;
  *context = &state().context;
  return success;
}
int cuDevicePrimaryCtxRelease_v2(int) {
  --state().retained;
  return success;
}
int cuDevicePrimaryCtxSetFlags_v2(int, unsigned) {
  return success;
}
int cuCtxSetCurrent(void* context) {
  current = context;
  return success;
}
int cuCtxGetCurrent(void** context) {
  *context = planted("foreign-context") ? static_cast<void*>(&state().foreign_context) : current;
  return success;
}
int cuCtxSynchronize() {
  static double waited_s = 0;
  wait_for_device(waited_s);
  waited_s = state().device_s;
  return waited(success);
}
int cuMemAlloc_v2(Address* address, std::size_t size_bytes) {
  return take(size_bytes, Kind::device, address);
}
int cuMemFree_v2(Address address) {
  return give_back(address);
}
int cuMemHostAlloc(void** memory, std::size_t size_bytes, unsigned) {
  return take(size_bytes, Kind::pinned, reinterpret_cast<Address*>(memory));
}
int cuMemHostGetDevicePointer_v2(Address* address, void* memory, unsigned) {
  *address = reinterpret_cast<Address>(memory);
  return block_of(*address, 1) == nullptr ? invalid_value : success;
}
int cuMemFreeHost(void* memory) {
  return give_back(reinterpret_cast<Address>(memory));
}
int cuMemAllocManaged(Address* address, std::size_t size_bytes, unsigned) {
  return take(size_bytes, Kind::managed, address);
}
int cuMemcpyHtoDAsync_v2(Address to, const void* from, std::size_t size_bytes, void*) {
  return copy(to, reinterpret_cast<Address>(from), size_bytes, true, false);
}
int cuMemcpyDtoHAsync_v2(void* to, Address from, std::size_t size_bytes, void*) {
  return copy(reinterpret_cast<Address>(to), from, size_bytes, false, true);
}
int cuMemcpyDtoDAsync_v2(Address to, Address from, std::size_t size_bytes, void*) {
  return copy(to, from, size_bytes, true, true);
}
int cuMemcpy(Address to, Address from, std::size_t size_bytes) {
  return waited(copy(to, from, size_bytes, false, false));
}
int cuMemcpyHtoD_v2(Address to, const void* from, std::size_t size_bytes) {
  return waited(cuMemcpyHtoDAsync_v2(to, from, size_bytes, nullptr));
}
int cuMemcpyDtoH_v2(void* to, Address from, std::size_t size_bytes) {
  return waited(cuMemcpyDtoHAsync_v2(to, from, size_bytes, nullptr));
}
int cuMemcpyDtoD_v2(Address to, Address from, std::size_t size_bytes) {
  return waited(cuMemcpyDtoDAsync_v2(to, from, size_bytes, nullptr));
}
int cuMemsetD8_v2(Address to, unsigned char value, std::size_t size_bytes) {
  std::byte* target = behind(to, size_bytes, false);
  if (target == nullptr) return invalid_value;
  std::memset(target, value, size_bytes);
  return success;
}
int cuPointerGetAttribute(void* value, int attribute, Address address) {
  const std::lock_guard hold(state().lock);
  const Block* block = block_of(address, 0);
  if (block == nullptr) return invalid_value;
  if (attribute == 1) *static_cast<void**>(value) = &state().context;
  if (attribute == 2) *static_cast<int*>(value) = block->kind == Kind::pinned ? 1 : 2;
  if (attribute == 8) *static_cast<int*>(value) = block->kind == Kind::managed;
  return success;
}
int cuStreamCreate(void** stream, unsigned) {
  *stream = new Stream{state().device_s};
  return success;
}
int cuStreamSynchronize(void* stream) {
  if (stream == nullptr) return success;
  if (state().running.joinable()) state().running.join();
  auto& waited_s = static_cast<Stream*>(stream)->waited_s;
  wait_for_device(waited_s);
  waited_s = state().device_s;
  return waited(success);
}
int cuStreamQuery(void*) {
  return waited(success);
}
int cuStreamDestroy_v2(void* stream) {
  delete static_cast<Stream*>(stream);
  return success;
}
int cuEventCreate(void** event, unsigned) {
  *event = new Event;
  return success;
}
int cuEventRecord(void* event, void*) {
  static_cast<Event*>(event)->recorded_s = std::max(state().device_s, state().host_s);
  return success;
}
int cuEventSynchronize(void*) {
  return waited(success);
}
int cuEventElapsedTime(float* milliseconds, void* from, void* to) {
  *milliseconds = static_cast<float>(
      (static_cast<Event*>(to)->recorded_s - static_cast<Event*>(from)->recorded_s) * 1e3);
  return success;
}
int cuEventDestroy_v2(void* event) {
  delete static_cast<Event*>(event);
  return success;
}
int cuModuleLoadData(void** module, const void* text) {
  const std::string ptx = static_cast<const char*>(text);
  if (ptx.find(NHALF_STAND_IN_ENTRY) == std::string::npos) return invalid_ptx;
  *module = new std::string(ptx);
  return success;
}
int cuModuleUnload(void* module) {
  delete static_cast<std::string*>(module);
  return success;
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
  const auto entry = std::string(NHALF_STAND_IN_ENTRY) + name + "(";
  if (static_cast<std::string*>(module)->find(entry) == std::string::npos) return not_found;
  for (const auto& kernel : known_kernels)
    if (std::strcmp(kernel.name, name) == 0) {
      *function = const_cast<Kernel*>(&kernel);
      return success;
    }
  return not_found;
}
#ifndef NHALF_STAND_IN_WITHOUT_LAUNCH
int cuLaunchKernel(void* function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   unsigned, void* stream, void** arguments, void**) {
  const std::lock_guard hold(state().lock);
  if (stream != nullptr && static_cast<Stream*>(stream)->captured >= 0) {
    ++static_cast<Stream*>(stream)->captured;
    return success;
  }
  enqueue(setting("NHALF_STAND_IN_LAUNCH_S", 5e-6));
  return static_cast<Kernel*>(function)->run(arguments);
}
#endif
#ifndef NHALF_STAND_IN_WITHOUT_GRAPHS
int cuStreamBeginCapture_v2(void* stream, int) {
  static_cast<Stream*>(stream)->captured = 0;
  static_cast<Stream*>(stream)->tasks.clear();
  return success;
}
int cuStreamEndCapture(void* stream, void** graph) {
  *graph = new Graph{std::exchange(static_cast<Stream*>(stream)->captured, -1),
                     static_cast<Stream*>(stream)->tasks};
  return success;
}
/// Whether a stream is captured, and the task is now a part of its graph.
bool nhalf_stand_in_captures(void* stream, void (*run)(void*), void* data) {
  if (stream == nullptr || static_cast<Stream*>(stream)->captured < 0) return false;
  static_cast<Stream*>(stream)->tasks.push_back({run, data});
  return true;
}
int cuGraphInstantiate_v2(void** program, void* graph, void*, char*, std::size_t) {
  state().host_s += setting("NHALF_STAND_IN_GRAPH_S", 1e-5);
  *program = new Graph(*static_cast<Graph*>(graph));
  return success;
}
int cuGraphLaunch(void* program, void*) {
  const auto& graph = *static_cast<Graph*>(program);
  {
    const std::lock_guard hold(state().lock);
    enqueue(graph.kernels * setting("NHALF_STAND_IN_NODE_S", 1e-6));
  }
  for (const auto& task : graph.tasks) task.run(task.data);
  return success;
}
int cuGraphDestroy(void* graph) {
  delete static_cast<Graph*>(graph);
  return success;
}
int cuGraphExecDestroy(void* program) {
  return cuGraphDestroy(program);
}
#endif
int cuIpcGetMemHandle(Handle* handle, Address address) {
  const std::lock_guard hold(state().lock);
  const auto entry = state().blocks.find(address);
  if (entry == state().blocks.end() || entry->second.kind != Kind::device) return invalid_value;
  std::snprintf(handle->bytes.data(), handle->bytes.size(), "/proc/%d/fd/%d %zu", getpid(),
                entry->second.file, entry->second.size_bytes);
  return success;
}
int cuIpcOpenMemHandle_v2(Address* address, Handle handle, unsigned) {
  std::array<char, 64> path{};
  std::size_t size_bytes = 0;
  if (std::sscanf(handle.bytes.data(), "%63s %zu", path.data(), &size_bytes) != 2)
    return invalid_value;
  const int file = open(path.data(), O_RDWR | O_CLOEXEC);
  return file < 0 ? invalid_value : map_block(file, size_bytes, Kind::device, true, address);
}
int cuIpcCloseMemHandle(Address address) {
  return give_back(address);
}
}
