// Device memory of the stand-in: a file without a name, mapped twice. The address that programs get
// can be neither read nor written; the stand-in goes by the other mapping.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace {
using Address = std::uint64_t;

enum : int {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  device_unavailable = 46,
  no_device = 100,
  invalid_device = 101,
  invalid_ptx = 218,
  invalid_context = 201,
  not_found = 500,
};
enum class Kind { device, pinned, managed };

bool planted(const char* fault) {
  const char* text = std::getenv("NHALF_STAND_IN_FAULT");
  return text != nullptr && std::string(text) == fault;
}

double setting(const char* name, double fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : std::atof(text);
}

/// An allocation: `seen` is the address that the program has, `behind` where the stand-in reads.
struct Block {
  Kind kind;
  std::size_t size_bytes;
  std::byte* seen;
  std::byte* behind;
  int file;
  bool is_opened;
};

struct State {
  std::mutex lock;
  std::map<Address, Block> blocks;
  /// The host's clock, and when the device has done what it was given.
  double host_s = 0;
  double device_s = 0;
  int context = 0;
  int foreign_context = 0;
  int retained = 0;
  std::thread running;
};
State& state() {
  static State& kept = *new State;
  return kept;
}
thread_local void* current = nullptr;

/// The host gives the device work, which begins when all before is done.
void enqueue(double work_s) {
  state().host_s += setting("NHALF_STAND_IN_CALL_S", 0);
  state().device_s = std::max(state().device_s, state().host_s) + work_s;
}

/// The host waits for the device.
void wait_for_end() {
  state().host_s = std::max(state().host_s, state().device_s) + setting("NHALF_STAND_IN_WAIT_S", 0);
}

/// The block that holds these bytes; null where they are not all in one.
Block* block_of(Address address, std::size_t size_bytes) {
  auto after = state().blocks.upper_bound(address);
  if (after == state().blocks.begin()) return nullptr;
  auto& [start, block] = *std::prev(after);
  return address - start + size_bytes <= block.size_bytes ? &block : nullptr;
}

/// Where the stand-in reads and writes an address; memory of the program stays where it is.
std::byte* behind(Address address, std::size_t size_bytes, bool may_be_host) {
  const Block* block = block_of(address, size_bytes);
  if (block != nullptr) return block->behind + (address - reinterpret_cast<Address>(block->seen));
  return may_be_host ? reinterpret_cast<std::byte*>(address) : nullptr;
}

int map_block(int file, std::size_t size_bytes, Kind kind, bool is_opened, Address* address) {
  const auto rights = kind == Kind::device ? PROT_NONE : PROT_READ | PROT_WRITE;
  void* seen = mmap(nullptr, size_bytes, rights, MAP_SHARED, file, 0);
  void* real = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (seen == MAP_FAILED || real == MAP_FAILED) return out_of_memory;
  *address = reinterpret_cast<Address>(seen);
  const std::lock_guard hold(state().lock);
  state().blocks[*address] = {
      kind, size_bytes, static_cast<std::byte*>(seen), static_cast<std::byte*>(real),
      file, is_opened};
  return success;
}

int take(std::size_t size_bytes, Kind kind, Address* address) {
  if (size_bytes == 0) return invalid_value;
  if (planted("out-of-memory")) return out_of_memory;
  const int file = memfd_create("stand-in", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(size_bytes)) != 0) return out_of_memory;
  return map_block(file, size_bytes, kind, false, address);
}

int give_back(Address address) {
  const std::lock_guard hold(state().lock);
  const auto entry = state().blocks.find(address);
  if (entry == state().blocks.end()) return invalid_value;
  munmap(entry->second.seen, entry->second.size_bytes);
  munmap(entry->second.behind, entry->second.size_bytes);
  close(entry->second.file);
  state().blocks.erase(entry);
  return success;
}

int copy(Address to, Address from, std::size_t size_bytes, bool to_device, bool from_device) {
  if (current == nullptr) return invalid_context;
  const std::lock_guard hold(state().lock);
  std::byte* target = behind(to, size_bytes, !to_device);
  const std::byte* source = behind(from, size_bytes, !from_device);
  if (target == nullptr || source == nullptr) return invalid_value;
  std::memmove(target, source, size_bytes);
  // Copies to blocks alone, lest the way there and back puts it right.
  if (planted("wrong-data") && size_bytes > 0 && block_of(to, 1) != nullptr)
    target[size_bytes / 2] ^= std::byte{1};
  const bool is_in = to_device && !from_device;
  const double slow = is_in ? setting("NHALF_STAND_IN_SLOW_COPIES_IN", 1) : 1;
  enqueue(slow * (setting("NHALF_STAND_IN_COPY_S", 1e-6) +
                  static_cast<double>(size_bytes) / setting("NHALF_STAND_IN_BYTES_PER_S", 1e10)));
  return success;
}
}  // namespace
