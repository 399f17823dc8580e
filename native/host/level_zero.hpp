// GPUs of Intel: memory and copies by Level Zero, in the shape of the CUDA driver's calls. It takes
// kernels as SPIR-V only and has no wait for all work of a process, so these calls are refused.
// This was tested with a stand-in alone, and on no GPU of Intel.
#pragma once

#include <dlfcn.h>

#include <mutex>

#include "host/gpu_types.hpp"

namespace nhalf::gpu {
inline constexpr const char* level_zero_file = "libze_loader.so.1";

/// What is used of Level Zero 1.0, and of its extension for PCI addresses. Source: ze_api.h.
namespace level_zero {
using Handle = struct HandleState*;

enum Answer : int {
  device_lost = 0x70000001,
  no_host_memory = 0x70000002,
  no_device_memory = 0x70000003,
  uninitialised = 0x78000001,
};

/// How descriptions begin: enum ze_structure_type_t, and what extends them.
struct Header {
  std::uint32_t type;
  const void* next = nullptr;
};
struct ContextDescription {
  Header header{.type = 0xd};
  std::uint32_t flags = 0;
};
struct QueueDescription {
  Header header{.type = 0xe};
  std::uint32_t ordinal = 0, index = 0, flags = 0;
  /// Calls return when their work is done (ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS).
  std::uint32_t mode = 1;
  std::uint32_t priority = 0;
};
struct DeviceMemoryDescription {
  Header header{.type = 0x15};
  std::uint32_t flags = 0, ordinal = 0;
};
struct HostMemoryDescription {
  Header header{.type = 0x16};
  std::uint32_t flags = 0;
};
struct PciProperties {
  Header header{.type = 0x10008};
  std::uint32_t domain = 0, bus = 0, device = 0, function = 0;
  std::int32_t generation = 0, lanes = 0;
  std::int64_t bytes_per_s = 0;
};

struct Calls {
  int (*initialise)(std::uint32_t flags);
  int (*drivers)(std::uint32_t* count, Handle* drivers);
  int (*devices)(Handle driver, std::uint32_t* count, Handle* devices);
  int (*pci_properties)(Handle device, PciProperties* properties);
  int (*context_create)(Handle driver, const ContextDescription* description, Handle* context);
  int (*list_create)(Handle context, Handle device, const QueueDescription* description,
                     Handle* list);
  int (*append_copy)(Handle list, void* to, const void* from, std::size_t size_bytes, Handle signal,
                     std::uint32_t waits, Handle* events);
  int (*append_fill)(Handle list, void* to, const void* value, std::size_t value_bytes,
                     std::size_t size_bytes, Handle signal, std::uint32_t waits, Handle* events);
  int (*take_device)(Handle context, const DeviceMemoryDescription* description,
                     std::size_t size_bytes, std::size_t alignment, Handle device, void** memory);
  int (*take_host)(Handle context, const HostMemoryDescription* description, std::size_t size_bytes,
                   std::size_t alignment, void** memory);
  int (*take_shared)(Handle context, const DeviceMemoryDescription* on_device,
                     const HostMemoryDescription* on_host, std::size_t size_bytes,
                     std::size_t alignment, Handle device, void** memory);
  int (*give_back)(Handle context, void* memory);
};
inline Calls calls{};

/// Finds the calls in an open library; the name of one that it lacks, or an empty one.
inline std::string load(void* library) {
  std::string missing;
  const auto find = [&](auto& call, const char* symbol) {
    call = reinterpret_cast<std::remove_reference_t<decltype(call)>>(dlsym(library, symbol));
    if (call == nullptr && missing.empty()) missing = symbol;
  };
  find(calls.initialise, "zeInit");
  find(calls.drivers, "zeDriverGet");
  find(calls.devices, "zeDeviceGet");
  find(calls.pci_properties, "zeDevicePciGetPropertiesExt");
  find(calls.context_create, "zeContextCreate");
  find(calls.list_create, "zeCommandListCreateImmediate");
  find(calls.append_copy, "zeCommandListAppendMemoryCopy");
  find(calls.append_fill, "zeCommandListAppendMemoryFill");
  find(calls.take_device, "zeMemAllocDevice");
  find(calls.take_host, "zeMemAllocHost");
  find(calls.take_shared, "zeMemAllocShared");
  find(calls.give_back, "zeMemFree");
  return missing;
}

/// A GPU with what is made for its first use, which lasts: libraries use it until they end.
struct Place {
  Handle driver = nullptr;
  Handle device = nullptr;
  Handle context = nullptr;
  Handle list = nullptr;
  /// One thread at a time may use a command list.
  std::mutex in_use{};
};
inline std::vector<std::unique_ptr<Place>>& places() {
  static auto& all = *new std::vector<std::unique_ptr<Place>>;
  return all;
}
inline thread_local Place* current = nullptr;
}  // namespace level_zero

/// All calls of the CUDA driver, refused.
struct RefusedCalls {
#define NHALF_GPU_CALL(name, symbol, ...) \
  static int name(__VA_ARGS__) {          \
    return not_supported;                 \
  }
#include "host/gpu_calls.inc"
};

/// The calls that Level Zero has equals of; a context is a GPU's Place.
struct LevelZeroCalls : RefusedCalls {
  static int initialise(unsigned) {
    using namespace level_zero;
    constexpr std::uint32_t gpus_only = 1;
    std::uint32_t count = 0;
    if (const int result = calls.initialise(gpus_only); result != success) return told(result);
    if (const int result = calls.drivers(&count, nullptr); result != success) return told(result);
    std::vector<Handle> drivers(count);
    if (const int result = calls.drivers(&count, drivers.data()); result != success)
      return told(result);
    for (const Handle driver : drivers) {
      std::uint32_t number = 0;
      if (calls.devices(driver, &number, nullptr) != success) continue;
      std::vector<Handle> devices(number);
      if (calls.devices(driver, &number, devices.data()) != success) continue;
      for (const Handle device : devices) {
        places().push_back(std::make_unique<Place>());
        places().back()->driver = driver;
        places().back()->device = device;
      }
    }
    return success;
  }
  static int driver_version(int* version) {
    *version = 0;
    return success;
  }
  static int error_name(int result, const char** name) {
    *name = result == out_of_memory             ? "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY"
            : result == no_device               ? "ZE_RESULT_ERROR_UNINITIALIZED"
            : result == level_zero::device_lost ? "ZE_RESULT_ERROR_DEVICE_LOST"
            : result == not_supported           ? "not asked of Level Zero"
                                                : nullptr;
    return success;
  }

  static int device_count(int* count) {
    *count = static_cast<int>(level_zero::places().size());
    return success;
  }
  static int device(int* device, int number) {
    *device = number;
    return success;
  }
  static int device_pci_address(char* text, int room, int device) {
    level_zero::PciProperties at;
    const int result = level_zero::calls.pci_properties(place(device).device, &at);
    std::snprintf(text, static_cast<std::size_t>(room), "%04x:%02x:%02x.%x", at.domain, at.bus,
                  at.device, at.function);
    return told(result);
  }
  static int context_retain(Context* context, int device) {
    const level_zero::ContextDescription description;
    const level_zero::QueueDescription queue;
    auto& gpu = place(device);
    *context = reinterpret_cast<Context>(&gpu);
    if (gpu.list != nullptr) return success;
    const int result = level_zero::calls.context_create(gpu.driver, &description, &gpu.context);
    if (result != success) return told(result);
    return told(level_zero::calls.list_create(gpu.context, gpu.device, &queue, &gpu.list));
  }
  static int context_release(int) { return success; }
  static int context_set(Context context) {
    level_zero::current = reinterpret_cast<level_zero::Place*>(context);
    return success;
  }
  static int context_get(Context* context) {
    *context = reinterpret_cast<Context>(level_zero::current);
    return success;
  }
  /// What was asked for here is done when its call returns.
  static int context_synchronise() { return success; }

  static int memory_take(Address* address, std::size_t size_bytes) {
    const level_zero::DeviceMemoryDescription description;
    return here([&](const auto& gpu) {
      return level_zero::calls.take_device(gpu.context, &description, size_bytes, alignment_bytes,
                                           gpu.device, reinterpret_cast<void**>(address));
    });
  }
  static int memory_free(Address address) { return pinned_free(pointer(address)); }
  static int pinned_take(void** memory, std::size_t size_bytes, unsigned) {
    const level_zero::HostMemoryDescription description;
    return here([&](const auto& gpu) {
      return level_zero::calls.take_host(gpu.context, &description, size_bytes, alignment_bytes,
                                         memory);
    });
  }
  static int pinned_free(void* memory) {
    return here([&](const auto& gpu) { return level_zero::calls.give_back(gpu.context, memory); });
  }
  static int managed_take(Address* address, std::size_t size_bytes, unsigned) {
    const level_zero::DeviceMemoryDescription on_device;
    const level_zero::HostMemoryDescription on_host;
    return here([&](const auto& gpu) {
      return level_zero::calls.take_shared(gpu.context, &on_device, &on_host, size_bytes,
                                           alignment_bytes, gpu.device,
                                           reinterpret_cast<void**>(address));
    });
  }

  static int copy_in(Address to, const void* from, std::size_t size_bytes) {
    return copied(pointer(to), from, size_bytes);
  }
  static int copy_out(void* to, Address from, std::size_t size_bytes) {
    return copied(to, pointer(from), size_bytes);
  }
  static int set_bytes(Address to, unsigned char value, std::size_t size_bytes) {
    return here([&](auto& gpu) {
      const std::lock_guard hold(gpu.in_use);
      return level_zero::calls.append_fill(gpu.list, pointer(to), &value, sizeof value, size_bytes,
                                           nullptr, 0, nullptr);
    });
  }

 private:
  static constexpr std::size_t alignment_bytes = 4096;

  static void* pointer(Address address) { return reinterpret_cast<void*>(address); }

  /// An answer of Level Zero as a Result, where there is one that says the same.
  static int told(int answer) {
    switch (answer) {
      case level_zero::no_host_memory:
      case level_zero::no_device_memory:
        return out_of_memory;
      case level_zero::uninitialised:
        return no_device;
      default:
        return answer;
    }
  }
  static level_zero::Place& place(int device) {
    return *level_zero::places()[static_cast<std::size_t>(device)];
  }
  /// What a call answers for the GPU that is current for this thread.
  template <class Call>
  static int here(Call call) {
    return level_zero::current == nullptr ? invalid_context : told(call(*level_zero::current));
  }
  static int copied(void* to, const void* from, std::size_t size_bytes) {
    return here([&](auto& gpu) {
      const std::lock_guard hold(gpu.in_use);
      return level_zero::calls.append_copy(gpu.list, to, from, size_bytes, nullptr, 0, nullptr);
    });
  }
};
}  // namespace nhalf::gpu
