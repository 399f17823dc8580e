// The driver of NVIDIA's GPUs, or else HIP for those of AMD or Level Zero for those of Intel,
// loaded when it is first asked for: nothing of CUDA is needed to build nhalf, and hosts without a
// GPU pay nothing. NHALF_CUDA_LIBRARY names another file than libcuda.so.1; NHALF_HIP_LIBRARY one
// of HIP, NHALF_LEVEL_ZERO_LIBRARY one of Level Zero, which is then taken. A process that forks may
// use the driver only after the fork.
#pragma once

#include <dlfcn.h>

#include <stdexcept>
#include <utility>

#include "host/hip.hpp"
#include "host/level_zero.hpp"

namespace nhalf::gpu {
/// Attributes of a device and of an address (enums CUdevice_attribute, CUpointer_attribute).
enum DeviceAttribute : int {
  multiprocessors = 16,
  capability_major = 75,
  capability_minor = 76,
};
enum PointerAttribute : int { pointer_context = 1, pointer_memory_type = 2 };

/// What can be wrong with a GPU or its driver, and one line that says it.
enum class Fault : unsigned char {
  no_library,
  no_symbol,
  old_driver,
  no_device,
  out_of_memory,
  another_context,
  refused,
};
struct DriverError : std::runtime_error {
  DriverError(Fault kind, const std::string& line) : std::runtime_error(line), fault(kind) {}
  Fault fault;
};

/// The driver's calls. `driver()` loads them; every call returns a `Result`.
struct Driver {
#define NHALF_GPU_CALL(name, symbol, ...) int (*name)(__VA_ARGS__) = nullptr;
#include "host/gpu_calls.inc"

  /// Loads the driver and initialises it. Throws DriverError.
  Driver() {
    const auto file = load();
    if (make_ == Make::level_zero) {
      if (const auto missing = level_zero::load(library_); !missing.empty())
        throw lacking(file, missing);
#define NHALF_GPU_CALL(name, symbol, ...) name = &LevelZeroCalls::name;
#include "host/gpu_calls.inc"
    } else {
#define NHALF_GPU_CALL(name, symbol, ...) \
  name = reinterpret_cast<decltype(name)>(address_of(symbol, file));
#include "host/gpu_calls.inc"
    }
    int version = 0;
    check(driver_version(&version), "its version");
    if (make_ == Make::cuda && version < oldest_version)
      throw DriverError(Fault::old_driver, "the GPU driver is for CUDA " + text_of(version) +
                                               "; CUDA " + text_of(oldest_version) +
                                               " or newer is needed");
    check(initialise(0), "its start");
  }

  /// Whether it runs kernels, and waits for all work of this process, which libraries began.
  [[nodiscard]] bool has_kernels() const { return make_ != Make::level_zero; }

  /// Throws a DriverError that says which `request` failed, unless the result is success.
  void check(int result, std::string_view request) const {
    if (result == success) return;
    const char* name = nullptr;
    if (error_name(result, &name) != success || name == nullptr) name = "an unknown error";
    throw DriverError(fault_of(result), explanation(result) + " (" + std::string(request) + ": " +
                                            name + ", " + std::to_string(result) + ")");
  }

  /// Code that `module_load` takes: PTX as it is, for HIP what it makes of the other text. Throws
  /// DriverError.
  [[nodiscard]] std::string code(const char* ptx, const char* hip) const {
    if (make_ == Make::cuda) return ptx;
    if (make_ == Make::level_zero || hip == nullptr)
      throw DriverError(Fault::refused,
                        std::string("this is measured on GPUs of NVIDIA only, and here is ") +
                            (make_ == Make::hip ? "HIP" : "Level Zero"));
    auto compiled = hip_code(library_, hip);
    if (compiled.empty())
      throw DriverError(Fault::no_library,
                        "HIP does not compile kernels here; install its compiler, libhiprtc.so");
    return compiled;
  }

 private:
  enum class Make : unsigned char { cuda, hip, level_zero };

  bool open(const char* file, Make make) {
    make_ = make;
    library_ = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    return library_ != nullptr;
  }

  /// The file of the driver, which is open afterwards.
  std::string load() {
    const auto none = [](const std::string& reason) {
      return DriverError(Fault::no_library, "no GPU driver: " + reason +
                                                "; install it, or name its file in "
                                                "NHALF_CUDA_LIBRARY, of HIP in NHALF_HIP_LIBRARY, "
                                                "of Level Zero in NHALF_LEVEL_ZERO_LIBRARY");
    };
    for (const auto& [variable, make] :
         {std::pair{"NHALF_LEVEL_ZERO_LIBRARY", Make::level_zero},
          std::pair{"NHALF_HIP_LIBRARY", Make::hip}, std::pair{"NHALF_CUDA_LIBRARY", Make::cuda}}) {
      const char* file = std::getenv(variable);
      if (file == nullptr || *file == '\0') continue;
      if (open(file, make)) return file;
      throw none(dlerror());
    }
    if (open(cuda_file, Make::cuda)) return cuda_file;
    const std::string reason = dlerror();
    for (const char* file : hip_files)
      if (open(file, Make::hip)) return file;
    if (open(level_zero_file, Make::level_zero)) return level_zero_file;
    throw none(reason);
  }

  static constexpr const char* cuda_file = "libcuda.so.1";

  /// CUDA 11.0 is the first to read PTX 7.0.
  static constexpr int oldest_version = 11000;

  static std::string text_of(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  }

  /// Where a call begins; null for one that may be missing.
  void* address_of(const char* cuda_symbol, const std::string& file) const {
    const auto symbol = make_ == Make::hip ? hip_name(cuda_symbol) : cuda_symbol;
    void* const address = dlsym(library_, symbol.c_str());
    const std::string_view wanted = cuda_symbol;
    const bool may_be_missing =
        wanted.find("Graph") != wanted.npos || wanted.find("Capture") != wanted.npos;
    if (address == nullptr && !may_be_missing) throw lacking(file, symbol);
    return address;
  }

  static DriverError lacking(const std::string& file, const std::string& symbol) {
    return {Fault::no_symbol,
            "the GPU driver " + file + " has no " + symbol + "; it is too old or no driver"};
  }

  static Fault fault_of(int result) {
    switch (result) {
      case out_of_memory:
        return Fault::out_of_memory;
      case no_device:
      case stub_library:
        return Fault::no_device;
      case device_unavailable:
      case invalid_context:
      case context_destroyed:
        return Fault::another_context;
      case unsupported_ptx:
        return Fault::old_driver;
      default:
        return Fault::refused;
    }
  }

  static std::string explanation(int result) {
    switch (fault_of(result)) {
      case Fault::out_of_memory:
        return "the GPU has not enough free memory";
      case Fault::no_device:
        return "the driver finds no GPU";
      case Fault::another_context:
        return "the GPU or this thread is in the hands of another context";
      case Fault::old_driver:
        return "the GPU driver is too old for these kernels";
      default:
        return "the GPU driver refused";
    }
  }

  void* library_ = nullptr;
  Make make_ = Make::cuda;
};

/// The driver of this process. Throws DriverError, at every call, if there is none that works.
inline const Driver& driver() {
  static const Driver loaded;
  return loaded;
}

inline int device_count() {
  int count = 0;
  driver().check(driver().device_count(&count), "number of devices");
  return count;
}

/// Where a device is, such as 0000:1b:00.0, a name below /sys/bus/pci/devices. Nothing of the
/// device is taken for that.
inline std::string pci_address(int number) {
  int device = 0;
  std::array<char, 32> text{};
  driver().check(driver().device(&device, number), "device");
  driver().check(driver().device_pci_address(text.data(), text.size(), device), "PCI address");
  std::string address = text.data();
  for (auto& letter : address)
    if (letter >= 'A' && letter <= 'F') letter = static_cast<char>(letter - 'A' + 'a');
  return address;
}

/// A GPU in its primary context, which libraries of the process share; current for the thread that
/// created it.
class Device {
 public:
  explicit Device(int number) : number_(number) {
    if (number < 0 || number >= device_count())
      throw DriverError(Fault::no_device, "there is no GPU " + std::to_string(number) +
                                              "; the driver shows " +
                                              std::to_string(device_count()));
    driver().check(driver().device(&device_, number), "device");
    driver().check(driver().context_retain(&context_, device_), "primary context");
    make_current();
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device() { driver().context_release(device_); }

  void make_current() const { driver().check(driver().context_set(context_), "current context"); }

  /// Throws DriverError where a library has left another context current for this thread.
  void require_current() const {
    Context current = nullptr;
    driver().check(driver().context_get(&current), "current context");
    if (current != context_)
      throw DriverError(Fault::another_context,
                        "this thread is in the hands of another context than that of its GPU");
  }

  [[nodiscard]] std::string name() const {
    std::array<char, 128> text{};
    driver().check(driver().device_name(text.data(), text.size(), device_), "name");
    return text.data();
  }

  [[nodiscard]] std::string pci_address() const { return gpu::pci_address(number_); }

  [[nodiscard]] int attribute(DeviceAttribute wanted) const {
    int value = 0;
    driver().check(driver().device_attribute(&value, wanted, device_), "attribute");
    return value;
  }

 private:
  int number_;
  int device_ = 0;
  Context context_ = nullptr;
};

/// What the driver created, given back at the end by the call `release`. Errors of that are those
/// of operations before it, and were reported there.
template <class Handle, auto release>
class Owned {
 public:
  Owned() = default;
  explicit Owned(Handle handle) : handle_(handle) {}
  Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, Handle{})) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (handle_ != Handle{}) (driver().*release)(handle_);
  }
  [[nodiscard]] Handle get() const { return handle_; }

 private:
  Handle handle_{};
};

using DeviceMemory = Owned<Address, &Driver::memory_free>;
using PinnedMemory = Owned<void*, &Driver::pinned_free>;
using OpenedMemory = Owned<Address, &Driver::share_close>;
using OwnedStream = Owned<Stream, &Driver::stream_destroy>;
using OwnedEvent = Owned<Event, &Driver::event_destroy>;
using OwnedModule = Owned<Module, &Driver::module_unload>;
using OwnedGraph = Owned<Graph, &Driver::graph_destroy>;
using OwnedGraphProgram = Owned<GraphProgram, &Driver::graph_program_destroy>;

inline DeviceMemory device_memory(std::size_t size_bytes) {
  Address address = 0;
  driver().check(driver().memory_take(&address, size_bytes), "device memory");
  return DeviceMemory(address);
}

/// Memory that host and device read by either's own address; it moves to who uses it.
inline DeviceMemory managed_memory(std::size_t size_bytes) {
  constexpr unsigned for_all_streams = 1;
  Address address = 0;
  driver().check(driver().managed_take(&address, size_bytes, for_all_streams), "managed memory");
  return DeviceMemory(address);
}

/// Memory of the host that stays in its place, and that the device can read.
inline PinnedMemory pinned_memory(std::size_t size_bytes) {
  constexpr unsigned portable_and_mapped = 1 | 2;
  void* memory = nullptr;
  driver().check(driver().pinned_take(&memory, size_bytes, portable_and_mapped), "pinned memory");
  return PinnedMemory(memory);
}

/// A stream that does not wait for the default stream.
inline OwnedStream stream() {
  constexpr unsigned non_blocking = 1;
  Stream handle = nullptr;
  driver().check(driver().stream_create(&handle, non_blocking), "stream");
  return OwnedStream(handle);
}

/// An event; `flags` are those of cuEventCreate (1: wait without spinning, 2: without a time).
inline OwnedEvent event(unsigned flags = 0) {
  Event handle = nullptr;
  driver().check(driver().event_create(&handle, flags), "event");
  return OwnedEvent(handle);
}

/// Kernels from PTX text, which the driver compiles for its GPU, or from text of C++ for HIP.
inline OwnedModule module(const char* ptx, const char* hip = nullptr) {
  Module handle = nullptr;
  driver().check(driver().module_load(&handle, driver().code(ptx, hip).c_str()), "kernels");
  return OwnedModule(handle);
}

inline Function function(const OwnedModule& kernels, const char* name) {
  Function kernel = nullptr;
  driver().check(driver().module_function(&kernel, kernels.get(), name), name);
  return kernel;
}

/// Starts a kernel of `blocks` times `threads`; the arguments have the types of its parameters.
template <class... Arguments>
void launch(Function kernel, unsigned blocks, unsigned threads, Stream stream,
            Arguments... arguments) {
  std::array<void*, sizeof...(arguments) + 1> addresses{&arguments..., nullptr};
  driver().check(
      driver().launch(kernel, blocks, 1, 1, threads, 1, 1, 0, stream, addresses.data(), nullptr),
      "launch of a kernel");
}

inline void synchronise(Stream stream) {
  driver().check(driver().stream_synchronise(stream), "synchronisation");
}

/// What `work` puts on a stream, as a graph that one call launches. Throws DriverError.
template <class Work>
OwnedGraphProgram graph_of(Stream stream, Work work) {
  constexpr int of_this_thread = 1;
  const auto& calls = driver();
  if (calls.capture_begin == nullptr || calls.capture_end == nullptr ||
      calls.graph_instantiate == nullptr || calls.graph_launch == nullptr ||
      calls.graph_destroy == nullptr || calls.graph_program_destroy == nullptr)
    throw DriverError(Fault::no_symbol, "the GPU driver has no graphs");
  calls.check(calls.capture_begin(stream, of_this_thread), "graph");
  work();
  Graph captured = nullptr;
  calls.check(calls.capture_end(stream, &captured), "graph");
  const OwnedGraph graph(captured);
  GraphProgram program = nullptr;
  calls.check(calls.graph_instantiate(&program, captured, nullptr, nullptr, 0), "graph");
  return OwnedGraphProgram(program);
}
}  // namespace nhalf::gpu
