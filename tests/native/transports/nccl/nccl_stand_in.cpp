// A libnccl.so.2 for hosts without a GPU, over the device memory of the stand-in for the driver
// (host/gpu_stand_in.cpp), which NHALF_CUDA_LIBRARY names. Ranks of one host move data through a
// file without a name that rank 0 makes; an operation is over when its call returns.
//
// NHALF_STAND_IN_NCCL_FAULT plants init (the start fails), wrong-data (each result of an operation
// has a wrong bit), async (an error shows while an operation is under way) or hang (operations do
// not end). It is NCCL 2.30.7, or what NHALF_STAND_IN_NCCL_VERSION says, such as 22809, and refuses
// ranks on one GPU without NCCL_MULTI_RANK_GPU_ENABLE, before 2.30 without NCCL_HOSTID. One that is
// compiled with NHALF_STAND_IN_DELAY_US takes that much longer for each operation.
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include "profiler_stand_in.hpp"

#ifndef NHALF_STAND_IN_DELAY_US
#define NHALF_STAND_IN_DELAY_US 0
#endif

namespace {
enum : int { success = 0, system_error = 2, invalid_argument = 4, invalid_usage = 5, remote = 6 };
using Address = std::uint64_t;
constexpr int ranks_max = 8;
constexpr std::size_t box_bytes = std::size_t{4} << 20;

bool planted(const char* fault) {
  const char* text = std::getenv("NHALF_STAND_IN_NCCL_FAULT");
  return text != nullptr && std::string(text) == fault;
}

int version_number() {
  const char* text = std::getenv("NHALF_STAND_IN_NCCL_VERSION");
  return text != nullptr ? std::atoi(text) : 23007;
}

/// A message from one rank to another, or a rank's part in an operation of all.
struct Box {
  std::atomic<int> is_full;
  std::size_t size_bytes;
  std::byte data[box_bytes];
};
struct Shared {
  std::atomic<int> arrived, generation;
  Box messages[ranks_max][ranks_max];
  Box parts[ranks_max];
};

struct UniqueId {
  std::array<char, 128> bytes;
};

int (*copy_out)(void*, Address, std::size_t) = nullptr;
int (*copy_in)(Address, const void*, std::size_t) = nullptr;
bool (*captures)(void* stream, void (*run)(void*), void* data) = nullptr;

/// Works now, or whenever a graph that is captured from the stream is launched.
int on_stream(void* stream, const std::function<int()>& work) {
  auto* kept = new std::function<int()>(work);
  const auto run = [](void* data) { (*static_cast<std::function<int()>*>(data))(); };
  if (captures != nullptr && captures(stream, run, kept)) return success;
  delete kept;
  return work();
}

struct Communicator {
  Shared* shared;
  int rank, ranks;

  void meet() const {
    const int generation = shared->generation.load();
    if (shared->arrived.fetch_add(1) == ranks - 1) {
      shared->arrived = 0;
      ++shared->generation;
    }
    while (shared->generation.load() == generation) sched_yield();
  }
};

struct Message {
  Communicator* among;
  int peer;
  std::size_t size_bytes;
  const void* out;
  void* in;
};
stand_in::Profiler profiler;
thread_local int group_depth = 0;
thread_local std::vector<Message> group;

std::size_t bytes_of(int type) {
  constexpr std::array<std::size_t, 9> sizes{1, 1, 4, 4, 8, 8, 2, 4, 8};
  return sizes.at(static_cast<std::size_t>(type));
}

void take_time() {
  if (NHALF_STAND_IN_DELAY_US > 0) usleep(NHALF_STAND_IN_DELAY_US);
  while (planted("hang") || planted("async")) usleep(1000);
}

int read_device(std::byte* to, const void* from, std::size_t size_bytes) {
  if (size_bytes > box_bytes) return invalid_usage;
  if (size_bytes == 0) return success;
  return copy_out(to, reinterpret_cast<Address>(from), size_bytes) == 0 ? success
                                                                        : invalid_argument;
}
int write_device(void* to, std::byte* from, std::size_t size_bytes) {
  if (size_bytes == 0) return success;
  if (planted("wrong-data")) from[size_bytes - 1] ^= std::byte{1};
  return copy_in(reinterpret_cast<Address>(to), from, size_bytes) == 0 ? success : invalid_argument;
}

/// All ranks' parts lie in shared memory while `use` makes this rank's result of them.
template <class Use>
int together(void* stream, Communicator* among, const void* in, std::size_t size_bytes, Use use) {
  profiler.collective(size_bytes);
  return on_stream(stream, [=] {
    take_time();
    const int result = read_device(among->shared->parts[among->rank].data, in, size_bytes);
    among->meet();
    const int used = result == success ? use() : result;
    among->meet();
    return used;
  });
}

template <class N>
void combine_numbers(const std::byte* from, std::byte* to, std::size_t size_bytes, int operation) {
  for (std::size_t at = 0; at < size_bytes; at += sizeof(N)) {
    N term, sum;
    std::memcpy(&term, from + at, sizeof term);
    std::memcpy(&sum, to + at, sizeof sum);
    if (operation == 0) sum = static_cast<N>(sum + term);
    if (operation == 2) sum = std::max(sum, term);
    if (operation == 3) sum = std::min(sum, term);
    std::memcpy(to + at, &sum, sizeof sum);
  }
}

/// What the parts of all ranks combine to, from a place on. Whole numbers are those of nhalf's
/// tests, which are not negative; their sums start from the beginning again.
std::vector<std::byte> combined(const Communicator* among, std::size_t from_bytes,
                                std::size_t size_bytes, int type, int operation) {
  const auto* parts = among->shared->parts;
  std::vector<std::byte> sum(parts[0].data + from_bytes, parts[0].data + from_bytes + size_bytes);
  for (int rank = 1; rank < among->ranks; ++rank) {
    const std::byte* part = parts[rank].data + from_bytes;
    if (type == 1) combine_numbers<std::uint8_t>(part, sum.data(), size_bytes, operation);
    if (type == 2) combine_numbers<std::uint32_t>(part, sum.data(), size_bytes, operation);
    if (type == 4) combine_numbers<std::uint64_t>(part, sum.data(), size_bytes, operation);
    if (type == 7) combine_numbers<float>(part, sum.data(), size_bytes, operation);
    if (type == 8) combine_numbers<double>(part, sum.data(), size_bytes, operation);
  }
  return sum;
}

constexpr int under_way = -1;
int put(const Message& message) {
  auto& box = message.among->shared->messages[message.among->rank][message.peer];
  if (box.is_full.load() != 0) return under_way;
  const int result = read_device(box.data, message.out, message.size_bytes);
  box.size_bytes = message.size_bytes;
  box.is_full = 1;
  return result;
}
int take(const Message& message) {
  auto& box = message.among->shared->messages[message.peer][message.among->rank];
  if (box.is_full.load() != 1) return under_way;
  if (box.size_bytes != message.size_bytes) return invalid_usage;
  const int result = write_device(message.in, box.data, message.size_bytes);
  box.is_full = 0;
  return result;
}

int run(const std::vector<Message>& messages) {
  take_time();
  // Those of one pair and way keep their order; all others go on meanwhile.
  std::vector<bool> is_over(messages.size());
  for (std::size_t left = messages.size(); left > 0; sched_yield()) {
    std::array<std::array<bool, 2>, ranks_max> is_held{};
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const bool is_out = messages[i].out != nullptr;
      auto& held = is_held[static_cast<std::size_t>(messages[i].peer)][is_out ? 1 : 0];
      if (is_over[i] || held) continue;
      const int result = is_out ? put(messages[i]) : take(messages[i]);
      held = result == under_way;
      if (held) continue;
      if (result != success) return result;
      is_over[i] = true;
      --left;
    }
  }
  return success;
}

thread_local void* group_stream = nullptr;
int start(const std::vector<Message>& messages, void* stream) {
  if (group_depth > 0) {
    group.push_back(messages.front());
    group_stream = stream;
    return success;
  }
  profiler.message();
  return on_stream(stream, [=] { return run(messages); });
}
}  // namespace

extern "C" {
int ncclGetVersion(int* version) {
  *version = version_number();
  return success;
}
const char* ncclGetErrorString(int result) {
  switch (result) {
    case system_error:
      return "unhandled system error";
    case invalid_argument:
      return "invalid argument";
    case remote:
      return "remote process exited or there was a network error";
    default:
      return "invalid usage";
  }
}
int ncclGetUniqueId(UniqueId* id) {
  const int file = memfd_create("nccl stand-in", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, sizeof(Shared)) != 0) return system_error;
  std::snprintf(id->bytes.data(), id->bytes.size(), "/proc/%d/fd/%d", getpid(), file);
  return success;
}
int ncclCommInitRank(Communicator** communicator, int ranks, UniqueId id, int rank) {
  if (planted("init") || ranks > ranks_max) return system_error;
  const bool has_switch = version_number() >= 23000;
  const char* shares = std::getenv(has_switch ? "NCCL_MULTI_RANK_GPU_ENABLE" : "NCCL_HOSTID");
  if (ranks > 1 && (shares == nullptr || (has_switch && std::string(shares) != "1")))
    return invalid_usage;
  void* driver = dlopen(std::getenv("NHALF_CUDA_LIBRARY"), RTLD_NOW);
  if (driver == nullptr) return system_error;
  copy_out = reinterpret_cast<decltype(copy_out)>(dlsym(driver, "cuMemcpyDtoH_v2"));
  copy_in = reinterpret_cast<decltype(copy_in)>(dlsym(driver, "cuMemcpyHtoD_v2"));
  captures = reinterpret_cast<decltype(captures)>(dlsym(driver, "nhalf_stand_in_captures"));
  const int file = open(id.bytes.data(), O_RDWR | O_CLOEXEC);
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return system_error;
  *communicator = new Communicator{static_cast<Shared*>(memory), rank, ranks};
  (*communicator)->meet();
  profiler.start(version_number(), ranks, rank);
  return success;
}
int ncclCommDestroy(Communicator* communicator) {
  if (communicator->rank == 0) profiler.stop();
  communicator->meet();
  munmap(communicator->shared, sizeof(Shared));
  delete communicator;
  return success;
}
int ncclCommGetAsyncError(Communicator*, int* result) {
  *result = planted("async") ? remote : success;
  return success;
}
int ncclGroupStart() {
  ++group_depth;
  return success;
}
int ncclGroupEnd() {
  if (--group_depth > 0) return success;
  const auto messages = std::move(group);
  group.clear();
  return start(messages, group_stream);
}
int ncclSend(const void* out, std::size_t count, int type, int peer, Communicator* among,
             void* stream) {
  return start({{among, peer, count * bytes_of(type), out, nullptr}}, stream);
}
int ncclRecv(void* in, std::size_t count, int type, int peer, Communicator* among, void* stream) {
  return start({{among, peer, count * bytes_of(type), nullptr, in}}, stream);
}
int ncclBroadcast(const void* in, void* out, std::size_t count, int type, int root,
                  Communicator* among, void* stream) {
  const auto size_bytes = count * bytes_of(type);
  return together(stream, among, in, size_bytes, [=] {
    const auto* data = among->shared->parts[root].data;
    std::vector<std::byte> copy(data, data + size_bytes);
    return write_device(out, copy.data(), size_bytes);
  });
}
int ncclReduce(const void* in, void* out, std::size_t count, int type, int operation, int root,
               Communicator* among, void* stream) {
  const auto size_bytes = count * bytes_of(type);
  return together(stream, among, in, size_bytes, [=] {
    if (among->rank != root) return int{success};
    auto sum = combined(among, 0, size_bytes, type, operation);
    return write_device(out, sum.data(), size_bytes);
  });
}
int ncclAllReduce(const void* in, void* out, std::size_t count, int type, int operation,
                  Communicator* among, void* stream) {
  const auto size_bytes = count * bytes_of(type);
  return together(stream, among, in, size_bytes, [=] {
    auto sum = combined(among, 0, size_bytes, type, operation);
    return write_device(out, sum.data(), size_bytes);
  });
}
int ncclAllGather(const void* in, void* out, std::size_t count, int type, Communicator* among,
                  void* stream) {
  const auto size_bytes = count * bytes_of(type);
  return together(stream, among, in, size_bytes, [=] {
    std::vector<std::byte> all;
    for (int rank = 0; rank < among->ranks; ++rank) {
      const auto* part = among->shared->parts[rank].data;
      all.insert(all.end(), part, part + size_bytes);
    }
    return write_device(out, all.data(), all.size());
  });
}
int ncclReduceScatter(const void* in, void* out, std::size_t count, int type, int operation,
                      Communicator* among, void* stream) {
  const auto size_bytes = count * bytes_of(type);
  return together(stream, among, in, size_bytes * static_cast<std::size_t>(among->ranks), [=] {
    auto sum = combined(among, static_cast<std::size_t>(among->rank) * size_bytes, size_bytes, type,
                        operation);
    return write_device(out, sum.data(), size_bytes);
  });
}
}
