// A tool below whatever else is preloaded: it writes down, in WITNESS.RANK, every call that reaches
// the MPI library and involves other ranks, by either of its names.
#include <dlfcn.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

/// Opens the file of this rank, which is its launcher's to tell before MPI_Init.
std::FILE* opened() {
  const char* path = std::getenv("WITNESS");
  if (path == nullptr) return nullptr;
  for (const char* name : {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"})
    if (const char* rank = std::getenv(name); rank != nullptr)
      return std::fopen((std::string(path) + "." + rank).c_str(), "ae");
  return nullptr;
}

void note(const char* name) {
  static std::FILE* const seen = opened();
  if (seen == nullptr) return;
  std::fprintf(seen, "%s\n", name);
  std::fflush(seen);
}

using Type = MPI_Datatype;
using Comm = MPI_Comm;

}  // namespace

#define WITNESSED(name, parameters, arguments)                                    \
  static int the_##name parameters {                                              \
    static auto* const library =                                                  \
        reinterpret_cast<decltype(&MPI_##name)>(dlsym(RTLD_NEXT, "PMPI_" #name)); \
    note(#name);                                                                  \
    return library arguments;                                                     \
  }                                                                               \
  extern "C" __attribute__((visibility("default"))) int MPI_##name parameters {   \
    return the_##name arguments;                                                  \
  }                                                                               \
  extern "C" __attribute__((visibility("default"))) int PMPI_##name parameters {  \
    return the_##name arguments;                                                  \
  }

WITNESSED(Barrier, (Comm c), (c))
WITNESSED(Bcast, (void* b, int n, Type t, int r, Comm c), (b, n, t, r, c))
WITNESSED(Reduce, (const void* a, void* b, int n, Type t, MPI_Op o, int r, Comm c),
          (a, b, n, t, o, r, c))
WITNESSED(Allreduce, (const void* a, void* b, int n, Type t, MPI_Op o, Comm c), (a, b, n, t, o, c))
WITNESSED(Reduce_scatter_block, (const void* a, void* b, int n, Type t, MPI_Op o, Comm c),
          (a, b, n, t, o, c))
WITNESSED(Scan, (const void* a, void* b, int n, Type t, MPI_Op o, Comm c), (a, b, n, t, o, c))
WITNESSED(Exscan, (const void* a, void* b, int n, Type t, MPI_Op o, Comm c), (a, b, n, t, o, c))
WITNESSED(Gather, (const void* a, int n, Type t, void* b, int m, Type u, int r, Comm c),
          (a, n, t, b, m, u, r, c))
WITNESSED(Scatter, (const void* a, int n, Type t, void* b, int m, Type u, int r, Comm c),
          (a, n, t, b, m, u, r, c))
WITNESSED(Allgather, (const void* a, int n, Type t, void* b, int m, Type u, Comm c),
          (a, n, t, b, m, u, c))
WITNESSED(Alltoall, (const void* a, int n, Type t, void* b, int m, Type u, Comm c),
          (a, n, t, b, m, u, c))
WITNESSED(Ibarrier, (Comm c, MPI_Request* q), (c, q))
WITNESSED(Ibcast, (void* b, int n, Type t, int r, Comm c, MPI_Request* q), (b, n, t, r, c, q))
WITNESSED(Iallreduce, (const void* a, void* b, int n, Type t, MPI_Op o, Comm c, MPI_Request* q),
          (a, b, n, t, o, c, q))
WITNESSED(Send, (const void* b, int n, Type t, int r, int g, Comm c), (b, n, t, r, g, c))
WITNESSED(Ssend, (const void* b, int n, Type t, int r, int g, Comm c), (b, n, t, r, g, c))
WITNESSED(Isend, (const void* b, int n, Type t, int r, int g, Comm c, MPI_Request* q),
          (b, n, t, r, g, c, q))
WITNESSED(Recv, (void* b, int n, Type t, int r, int g, Comm c, MPI_Status* s),
          (b, n, t, r, g, c, s))
WITNESSED(Irecv, (void* b, int n, Type t, int r, int g, Comm c, MPI_Request* q),
          (b, n, t, r, g, c, q))
WITNESSED(Probe, (int r, int g, Comm c, MPI_Status* s), (r, g, c, s))
WITNESSED(Iprobe, (int r, int g, Comm c, int* f, MPI_Status* s), (r, g, c, f, s))
WITNESSED(Sendrecv,
          (const void* a, int n, Type t, int d, int g, void* b, int m, Type u, int r, int h, Comm c,
           MPI_Status* s),
          (a, n, t, d, g, b, m, u, r, h, c, s))
WITNESSED(Comm_dup, (Comm c, Comm* d), (c, d))
WITNESSED(Comm_dup_with_info, (Comm c, MPI_Info i, Comm* d), (c, i, d))
WITNESSED(Comm_idup, (Comm c, Comm* d, MPI_Request* q), (c, d, q))
WITNESSED(Comm_split, (Comm c, int n, int k, Comm* d), (c, n, k, d))
WITNESSED(Comm_split_type, (Comm c, int n, int k, MPI_Info i, Comm* d), (c, n, k, i, d))
WITNESSED(Comm_create, (Comm c, MPI_Group g, Comm* d), (c, g, d))
WITNESSED(Comm_create_group, (Comm c, MPI_Group g, int k, Comm* d), (c, g, k, d))
WITNESSED(Intercomm_create, (Comm c, int l, Comm p, int r, int g, Comm* d), (c, l, p, r, g, d))
WITNESSED(Comm_accept, (const char* p, MPI_Info i, int r, Comm c, Comm* d), (p, i, r, c, d))
WITNESSED(Comm_connect, (const char* p, MPI_Info i, int r, Comm c, Comm* d), (p, i, r, c, d))
WITNESSED(Win_create, (void* b, MPI_Aint n, int u, MPI_Info i, Comm c, MPI_Win* w),
          (b, n, u, i, c, w))
WITNESSED(Win_allocate, (MPI_Aint n, int u, MPI_Info i, Comm c, void* b, MPI_Win* w),
          (n, u, i, c, b, w))
WITNESSED(Finalize, (), ())
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
WITNESSED(Comm_create_from_group,
          (MPI_Group g, const char* k, MPI_Info i, MPI_Errhandler e, Comm* c), (g, k, i, e, c))
#endif
