// Preloaded into a program of MPI: makes a library of the host one that knows memory of the GPU, by
// copies through the driver that NHALF_CUDA_LIBRARY names; windows in that memory are opened by the
// other ranks. Has the calls that tests use, on windows in bytes, floats and 64-bit numbers.
// NHALF_STAND_IN_FAULT=host-windows plants a library that takes such buffers, but no such windows.
#include <dlfcn.h>
#include <mpi.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace {
using Address = std::uint64_t;

template <class Function>
Function driver_call(const char* symbol) {
  static void* driver = dlopen(std::getenv("NHALF_CUDA_LIBRARY"), RTLD_NOW);
  return reinterpret_cast<Function>(dlsym(driver, symbol));
}

bool is_device(const void* memory) {
  static const auto ask = driver_call<int (*)(void*, int, Address)>("cuPointerGetAttribute");
  int kind = 0;
  constexpr int memory_type = 2;
  constexpr int device = 2;
  return memory != MPI_IN_PLACE && memory != nullptr &&
         ask(&kind, memory_type, reinterpret_cast<Address>(memory)) == 0 && kind == device;
}

/// What MPI is given instead of memory of the device: a copy, which goes back with `finish`.
class Staged {
 public:
  Staged(const void* memory, long items, MPI_Datatype type) : memory_(const_cast<void*>(memory)) {
    if (items == 0 || !is_device(memory)) return;
    int size = 0;
    PMPI_Type_size(type, &size);
    copy_.resize(static_cast<std::size_t>(items) * static_cast<std::size_t>(size));
    static const auto read = driver_call<int (*)(void*, Address, std::size_t)>("cuMemcpyDtoH_v2");
    read(copy_.data(), reinterpret_cast<Address>(memory), copy_.size());
  }
  [[nodiscard]] void* get() { return copy_.empty() ? memory_ : copy_.data(); }
  void finish() {
    static const auto write =
        driver_call<int (*)(Address, const void*, std::size_t)>("cuMemcpyHtoD_v2");
    if (!copy_.empty()) write(reinterpret_cast<Address>(memory_), copy_.data(), copy_.size());
  }

 private:
  void* memory_;
  std::vector<char> copy_;
};

struct Pending {
  Staged staged;
  bool receives;
};
std::map<MPI_Request, Pending>& pending() {
  static std::map<MPI_Request, Pending> all;
  return all;
}

/// What one-sided operations give and get, until they are complete.
std::vector<Staged>& until_complete() {
  static std::vector<Staged> all;
  return all;
}
void* kept(const void* memory, long items, MPI_Datatype type) {
  return until_complete().emplace_back(memory, items, type).get();
}
int completed(int result) {
  for (auto& staged : until_complete()) staged.finish();
  until_complete().clear();
  return result;
}

/// Windows in memory of the device: where it is, by rank; 0 is memory of the host.
std::map<MPI_Win, std::vector<Address>>& windows() {
  static std::map<MPI_Win, std::vector<Address>> all;
  return all;
}
Address in_window(MPI_Win window, int target, MPI_Aint at) {
  const auto entry = windows().find(window);
  if (entry == windows().end()) return 0;
  const Address start = entry->second[static_cast<std::size_t>(target)];
  return start == 0 ? 0 : start + static_cast<Address>(at);
}

/// Copies, wherever the memory lies.
int move(Address to, Address from, std::size_t size_bytes) {
  static const auto copy = driver_call<int (*)(Address, Address, std::size_t)>("cuMemcpy");
  return size_bytes == 0 ? 0 : copy(to, from, size_bytes);
}
Address address_of(const void* memory) {
  return reinterpret_cast<Address>(memory);
}

/// A rank whose buffers lie on the host opens windows of the device, too.
void use_device() {
  static const auto retain = driver_call<int (*)(void**, int)>("cuDevicePrimaryCtxRetain");
  static const auto set = driver_call<int (*)(void*)>("cuCtxSetCurrent");
  static void* context = nullptr;
  if (context == nullptr) retain(&context, 0);
  set(context);
}

/// Changes numbers of the device: `change(of_target, given)` is what they become.
template <class Number, class Change>
int change_numbers(Address target, const void* terms, void* before, int items, Change change) {
  std::vector<Number> numbers(static_cast<std::size_t>(items)), given(numbers);
  const std::size_t size_bytes = numbers.size() * sizeof(Number);
  move(address_of(numbers.data()), target, size_bytes);
  move(address_of(given.data()), address_of(terms), size_bytes);
  if (before != nullptr) move(address_of(before), address_of(numbers.data()), size_bytes);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = change(numbers[i], given[i]);
  return move(target, address_of(numbers.data()), size_bytes);
}

void finish(MPI_Request request) {
  const auto entry = pending().find(request);
  if (entry == pending().end()) return;
  if (entry->second.receives) entry->second.staged.finish();
  pending().erase(entry);
}

int ranks_of(MPI_Comm where) {
  int ranks = 0;
  PMPI_Comm_size(where, &ranks);
  return ranks;
}
}  // namespace

extern "C" {
int MPIX_Query_cuda_support() {
  return 1;
}

#define NHALF_STAGED_SEND(call)                                                       \
  int MPI_##call(const void* data, int items, MPI_Datatype type, int to, int tag,     \
                 MPI_Comm where) {                                                    \
    return PMPI_##call(Staged(data, items, type).get(), items, type, to, tag, where); \
  }
NHALF_STAGED_SEND(Send)
NHALF_STAGED_SEND(Ssend)
NHALF_STAGED_SEND(Rsend)
NHALF_STAGED_SEND(Bsend)

int MPI_Recv(void* data, int items, MPI_Datatype type, int from, int tag, MPI_Comm where,
             MPI_Status* status) {
  Staged staged(data, items, type);
  const int result = PMPI_Recv(staged.get(), items, type, from, tag, where, status);
  staged.finish();
  return result;
}

int MPI_Sendrecv(const void* out, int items, MPI_Datatype type, int to, int tag, void* in,
                 int in_items, MPI_Datatype in_type, int from, int in_tag, MPI_Comm where,
                 MPI_Status* status) {
  Staged staged_in(in, in_items, in_type);
  const int result = PMPI_Sendrecv(Staged(out, items, type).get(), items, type, to, tag,
                                   staged_in.get(), in_items, in_type, from, in_tag, where, status);
  staged_in.finish();
  return result;
}

int MPI_Isend(const void* data, int items, MPI_Datatype type, int to, int tag, MPI_Comm where,
              MPI_Request* request) {
  Staged staged(data, items, type);
  const int result = PMPI_Isend(staged.get(), items, type, to, tag, where, request);
  pending().insert_or_assign(*request, Pending{std::move(staged), false});
  return result;
}

int MPI_Irecv(void* data, int items, MPI_Datatype type, int from, int tag, MPI_Comm where,
              MPI_Request* request) {
  Staged staged(data, items, type);
  const int result = PMPI_Irecv(staged.get(), items, type, from, tag, where, request);
  pending().insert_or_assign(*request, Pending{std::move(staged), true});
  return result;
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  const MPI_Request waited = *request;
  const int result = PMPI_Wait(request, status);
  finish(waited);
  return result;
}

int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  const std::vector<MPI_Request> waited(requests, requests + count);
  const int result = PMPI_Waitall(count, requests, statuses);
  for (const MPI_Request request : waited) finish(request);
  return result;
}

int MPI_Waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  const std::vector<MPI_Request> waited(requests, requests + count);
  const int result = PMPI_Waitany(count, requests, index, status);
  if (*index != MPI_UNDEFINED) finish(waited[static_cast<std::size_t>(*index)]);
  return result;
}

int MPI_Win_create(void* base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm where,
                   MPI_Win* window) {
  struct Handle {
    char bytes[64];
  };
  static const auto share = driver_call<int (*)(Handle*, Address)>("cuIpcGetMemHandle");
  static const auto open =
      driver_call<int (*)(Address*, Handle, unsigned)>("cuIpcOpenMemHandle_v2");
  const char* fault = std::getenv("NHALF_STAND_IN_FAULT");
  if (fault != nullptr && std::strcmp(fault, "host-windows") == 0)
    return PMPI_Win_create(base, size, unit, info, where, window);
  Handle own{};
  const bool is_there = size > 0 && is_device(base) && share(&own, address_of(base)) == 0;
  std::vector<Handle> handles(static_cast<std::size_t>(ranks_of(where)));
  PMPI_Allgather(&own, sizeof own, MPI_BYTE, handles.data(), sizeof own, MPI_BYTE, where);
  int rank = 0;
  PMPI_Comm_rank(where, &rank);
  use_device();
  std::vector<Address> addresses(handles.size());
  for (std::size_t other = 0; other < handles.size(); ++other)
    if (handles[other].bytes[0] != 0) open(&addresses[other], handles[other], 1);
  const int result =
      PMPI_Win_create(is_there ? nullptr : base, is_there ? 0 : size, unit, info, where, window);
  windows()[*window] = std::move(addresses);
  return result;
}

int MPI_Win_free(MPI_Win* window) {
  static const auto close = driver_call<int (*)(Address)>("cuIpcCloseMemHandle");
  for (const Address address : windows()[*window])
    if (address != 0) close(address);
  windows().erase(*window);
  return PMPI_Win_free(window);
}

int MPI_Put(const void* data, int items, MPI_Datatype type, int target, MPI_Aint at,
            int target_items, MPI_Datatype target_type, MPI_Win window) {
  if (const Address there = in_window(window, target, at); there != 0)
    return move(there, address_of(data), static_cast<std::size_t>(items));
  return PMPI_Put(kept(data, items, type), items, type, target, at, target_items, target_type,
                  window);
}

int MPI_Get(void* data, int items, MPI_Datatype type, int target, MPI_Aint at, int target_items,
            MPI_Datatype target_type, MPI_Win window) {
  if (const Address there = in_window(window, target, at); there != 0)
    return move(address_of(data), there, static_cast<std::size_t>(items));
  return PMPI_Get(kept(data, items, type), items, type, target, at, target_items, target_type,
                  window);
}

int MPI_Accumulate(const void* data, int items, MPI_Datatype type, int target, MPI_Aint at,
                   int target_items, MPI_Datatype target_type, MPI_Op operation, MPI_Win window) {
  if (const Address there = in_window(window, target, at); there != 0)
    return change_numbers<float>(there, data, nullptr, items, std::plus<>());
  return PMPI_Accumulate(kept(data, items, type), items, type, target, at, target_items,
                         target_type, operation, window);
}

int MPI_Get_accumulate(const void* data, int items, MPI_Datatype type, void* before,
                       int before_items, MPI_Datatype before_type, int target, MPI_Aint at,
                       int target_items, MPI_Datatype target_type, MPI_Op operation,
                       MPI_Win window) {
  if (const Address there = in_window(window, target, at); there != 0)
    return change_numbers<float>(there, data, before, items, std::plus<>());
  return PMPI_Get_accumulate(kept(data, items, type), items, type, kept(before, items, type),
                             before_items, before_type, target, at, target_items, target_type,
                             operation, window);
}

int MPI_Fetch_and_op(const void* term, void* before, MPI_Datatype type, int target, MPI_Aint at,
                     MPI_Op operation, MPI_Win window) {
  if (const Address there = in_window(window, target, at); there != 0)
    return change_numbers<std::int64_t>(there, term, before, 1, std::plus<>());
  return PMPI_Fetch_and_op(kept(term, 1, type), kept(before, 1, type), type, target, at, operation,
                           window);
}

int MPI_Compare_and_swap(const void* desired, const void* expected, void* before, MPI_Datatype type,
                         int target, MPI_Aint at, MPI_Win window) {
  if (const Address there = in_window(window, target, at); there != 0) {
    std::int64_t wanted = 0;
    move(address_of(&wanted), address_of(expected), sizeof wanted);
    return change_numbers<std::int64_t>(
        there, desired, before, 1,
        [=](auto present, auto swapped_in) { return present == wanted ? swapped_in : present; });
  }
  return PMPI_Compare_and_swap(kept(desired, 1, type), kept(expected, 1, type),
                               kept(before, 1, type), type, target, at, window);
}

int MPI_Win_flush(int target, MPI_Win window) {
  return completed(PMPI_Win_flush(target, window));
}
int MPI_Win_flush_all(MPI_Win window) {
  return completed(PMPI_Win_flush_all(window));
}
int MPI_Win_unlock(int target, MPI_Win window) {
  return completed(PMPI_Win_unlock(target, window));
}
int MPI_Win_unlock_all(MPI_Win window) {
  return completed(PMPI_Win_unlock_all(window));
}
int MPI_Win_fence(int assertion, MPI_Win window) {
  return completed(PMPI_Win_fence(assertion, window));
}
int MPI_Win_complete(MPI_Win window) {
  return completed(PMPI_Win_complete(window));
}

int MPI_Bcast(void* data, int items, MPI_Datatype type, int root, MPI_Comm where) {
  Staged staged(data, items, type);
  const int result = PMPI_Bcast(staged.get(), items, type, root, where);
  staged.finish();
  return result;
}

int MPI_Allreduce(const void* in, void* out, int items, MPI_Datatype type, MPI_Op operation,
                  MPI_Comm where) {
  Staged staged(out, items, type);
  const void* given = in == MPI_IN_PLACE ? in : nullptr;
  Staged staged_in(in, items, type);
  const int result = PMPI_Allreduce(given != nullptr ? given : staged_in.get(), staged.get(), items,
                                    type, operation, where);
  staged.finish();
  return result;
}

int MPI_Reduce(const void* in, void* out, int items, MPI_Datatype type, MPI_Op operation, int root,
               MPI_Comm where) {
  Staged staged(out, items, type);
  Staged staged_in(in, items, type);
  const int result =
      PMPI_Reduce(staged_in.get(), staged.get(), items, type, operation, root, where);
  staged.finish();
  return result;
}

int MPI_Gather(const void* in, int items, MPI_Datatype type, void* out, int out_items,
               MPI_Datatype out_type, int root, MPI_Comm where) {
  Staged staged(out, static_cast<long>(out_items) * ranks_of(where), out_type);
  Staged staged_in(in, items, type);
  const int result =
      PMPI_Gather(staged_in.get(), items, type, staged.get(), out_items, out_type, root, where);
  int rank = 0;
  PMPI_Comm_rank(where, &rank);
  if (rank == root) staged.finish();
  return result;
}

int MPI_Alltoall(const void* in, int items, MPI_Datatype type, void* out, int out_items,
                 MPI_Datatype out_type, MPI_Comm where) {
  Staged staged(out, static_cast<long>(out_items) * ranks_of(where), out_type);
  Staged staged_in(in, static_cast<long>(items) * ranks_of(where), type);
  const int result =
      PMPI_Alltoall(staged_in.get(), items, type, staged.get(), out_items, out_type, where);
  staged.finish();
  return result;
}
}
