// Preloaded into a program of MPI: makes a library of the host one that knows memory of the GPU, by
// copies through the driver that NHALF_CUDA_LIBRARY names. Has the calls that tests use.
#include <dlfcn.h>
#include <mpi.h>

#include <cstdint>
#include <cstdlib>
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

/// What one-sided operations give and get, until the window is flushed.
std::vector<Staged>& until_flushed() {
  static std::vector<Staged> all;
  return all;
}
void* kept(const void* memory, MPI_Datatype type) {
  return until_flushed().emplace_back(memory, 1, type).get();
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

int MPI_Fetch_and_op(const void* term, void* before, MPI_Datatype type, int target, MPI_Aint at,
                     MPI_Op operation, MPI_Win window) {
  return PMPI_Fetch_and_op(kept(term, type), kept(before, type), type, target, at, operation,
                           window);
}

int MPI_Compare_and_swap(const void* desired, const void* expected, void* before, MPI_Datatype type,
                         int target, MPI_Aint at, MPI_Win window) {
  return PMPI_Compare_and_swap(kept(desired, type), kept(expected, type), kept(before, type), type,
                               target, at, window);
}

int MPI_Win_flush(int target, MPI_Win window) {
  const int result = PMPI_Win_flush(target, window);
  for (auto& staged : until_flushed()) staged.finish();
  until_flushed().clear();
  return result;
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
