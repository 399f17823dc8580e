// A libze_loader.so.1 for hosts without a GPU, on the memory of the driver's stand-in: one driver
// with NHALF_STAND_IN_DEVICES GPUs. NHALF_STAND_IN_FAULT plants no-device, out-of-memory,
// wrong-data and lost (a GPU that no longer answers copies); NHALF_STAND_IN_WITHOUT_FILL compiles
// it without zeCommandListAppendMemoryFill.
#include <cstdio>

#include "gpu_stand_in_memory.hpp"

namespace {
constexpr int lost = 0x70000001;
constexpr int no_memory = 0x70000003;
constexpr int uninitialised = 0x78000001;

/// Only the descriptions that the standard has are taken.
struct Description {
  std::uint32_t type;
  const void* next;
};
bool is_of(const void* description, std::uint32_t type) {
  return static_cast<const Description*>(description)->type == type;
}

int list(std::uint32_t number, std::uint32_t* count, void** items) {
  if (items == nullptr) *count = number;
  for (std::uint32_t i = 0; items != nullptr && i < *count && i < number; ++i)
    items[i] = reinterpret_cast<void*>(std::uintptr_t{i} + 1);
  return success;
}

int taken(bool is_right, std::size_t size_bytes, Kind kind, void** memory) {
  if (!is_right) return invalid_value;
  const int result = take(size_bytes, kind, reinterpret_cast<Address*>(memory));
  return result == out_of_memory ? no_memory : result;
}
}  // namespace

extern "C" {
int zeInit(std::uint32_t) {
  return planted("no-device") ? uninitialised : success;
}
int zeDriverGet(std::uint32_t* count, void** drivers) {
  return list(1, count, drivers);
}
int zeDeviceGet(void*, std::uint32_t* count, void** devices) {
  return list(static_cast<std::uint32_t>(setting("NHALF_STAND_IN_DEVICES", 1)), count, devices);
}
int zeDevicePciGetPropertiesExt(void* device, void* properties) {
  if (!is_of(properties, 0x10008)) return invalid_value;
  const auto bus = 0xA0 + static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(device)) - 1;
  const std::uint32_t address[] = {0, bus, 0, 0};
  std::memcpy(static_cast<char*>(properties) + sizeof(Description), address, sizeof address);
  return success;
}
int zeContextCreate(void*, const void* wanted, void** context) {
  *context = &state().context;
  return is_of(wanted, 0xd) ? success : invalid_value;
}
int zeCommandListCreateImmediate(void* context, void*, const void* wanted, void** made) {
  current = context;
  *made = context;
  std::uint32_t words[5];
  std::memcpy(words, static_cast<const char*>(wanted) + sizeof(Description), sizeof words);
  constexpr std::uint32_t synchronous = 1;
  return is_of(wanted, 0xe) && words[3] == synchronous ? success : invalid_value;
}
int zeCommandListAppendMemoryCopy(void* used, void* to, const void* from, std::size_t size_bytes,
                                  void*, std::uint32_t, void**) {
  if (planted("lost")) return lost;
  current = used;
  return copy(reinterpret_cast<Address>(to), reinterpret_cast<Address>(from), size_bytes, false,
              false);
}
#ifndef NHALF_STAND_IN_WITHOUT_FILL
int zeCommandListAppendMemoryFill(void*, void* to, const void* value, std::size_t value_bytes,
                                  std::size_t size_bytes, void*, std::uint32_t, void**) {
  std::byte* target = behind(reinterpret_cast<Address>(to), size_bytes, false);
  if (target == nullptr || value_bytes != 1) return invalid_value;
  std::memset(target, *static_cast<const unsigned char*>(value), size_bytes);
  return success;
}
#endif
int zeMemAllocDevice(void*, const void* wanted, std::size_t size_bytes, std::size_t, void*,
                     void** memory) {
  return taken(is_of(wanted, 0x15), size_bytes, Kind::device, memory);
}
int zeMemAllocHost(void*, const void* wanted, std::size_t size_bytes, std::size_t, void** memory) {
  return taken(is_of(wanted, 0x16), size_bytes, Kind::pinned, memory);
}
int zeMemAllocShared(void*, const void* on_device, const void* on_host, std::size_t size_bytes,
                     std::size_t, void*, void** memory) {
  const bool is_right = is_of(on_device, 0x15) && is_of(on_host, 0x16);
  return taken(is_right, size_bytes, Kind::managed, memory);
}
int zeMemFree(void*, void* memory) {
  return give_back(reinterpret_cast<Address>(memory));
}
}
