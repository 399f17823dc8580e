// Preloaded into a program of MPI: counts what it sends, but for what goes over MPI_COMM_WORLD, and
// writes it to the file NHALF_COUNTS.RANK: name, partner (-1 for none), bytes, how often.
#include <mpi.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <tuple>

namespace {

using Key = std::tuple<std::string, int, long>;

std::map<Key, long>& counts() {
  static std::map<Key, long> all;
  return all;
}

void count(const char* name, int peer, long items, MPI_Datatype type, MPI_Comm communicator) {
  if (communicator == MPI_COMM_WORLD || peer == MPI_PROC_NULL) return;
  int size = 0;
  PMPI_Type_size(type, &size);
  ++counts()[{name, peer, items * size}];
}

}  // namespace

extern "C" {

int MPI_Send(const void* data, int items, MPI_Datatype type, int to, int tag, MPI_Comm where) {
  count("send", to, items, type, where);
  return PMPI_Send(data, items, type, to, tag, where);
}

int MPI_Isend(const void* data, int items, MPI_Datatype type, int to, int tag, MPI_Comm where,
              MPI_Request* request) {
  count("send", to, items, type, where);
  return PMPI_Isend(data, items, type, to, tag, where, request);
}

int MPI_Sendrecv(const void* out, int items, MPI_Datatype type, int to, int tag, void* in,
                 int in_items, MPI_Datatype in_type, int from, int in_tag, MPI_Comm where,
                 MPI_Status* status) {
  count("send", to, items, type, where);
  return PMPI_Sendrecv(out, items, type, to, tag, in, in_items, in_type, from, in_tag, where,
                       status);
}

int MPI_Allreduce(const void* in, void* out, int items, MPI_Datatype type, MPI_Op operation,
                  MPI_Comm where) {
  count("allreduce", -1, items, type, where);
  return PMPI_Allreduce(in, out, items, type, operation, where);
}

int MPI_Reduce(const void* in, void* out, int items, MPI_Datatype type, MPI_Op operation, int root,
               MPI_Comm where) {
  count("reduce", -1, items, type, where);
  return PMPI_Reduce(in, out, items, type, operation, root, where);
}

int MPI_Alltoall(const void* in, int items, MPI_Datatype type, void* out, int out_items,
                 MPI_Datatype out_type, MPI_Comm where) {
  count("alltoall", -1, items, type, where);
  return PMPI_Alltoall(in, items, type, out, out_items, out_type, where);
}

int MPI_Alltoallv(const void* in, const int* items, const int* at, MPI_Datatype type, void* out,
                  const int* out_items, const int* out_at, MPI_Datatype out_type, MPI_Comm where) {
  int size = 0;
  PMPI_Comm_size(where, &size);
  long total = 0;
  for (int rank = 0; rank < size; ++rank) total += items[rank];
  count("alltoallv", -1, total, type, where);
  return PMPI_Alltoallv(in, items, at, type, out, out_items, out_at, out_type, where);
}

int MPI_Finalize() {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::string path = std::string(std::getenv("NHALF_COUNTS")) + "." + std::to_string(rank);
  if (std::FILE* file = std::fopen(path.c_str(), "w")) {
    for (const auto& [key, times] : counts()) {
      const auto& [name, peer, bytes] = key;
      std::fprintf(file, "%s %d %ld %ld\n", name.c_str(), peer, bytes, times);
    }
    std::fclose(file);
  }
  return PMPI_Finalize();
}

}  // extern "C"
