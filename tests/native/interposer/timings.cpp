// An unchanged MPI program that times collectives as it calls them beside the library's own, batch
// by batch in turn, and what two cores need to pass one flag. The fastest batch of each, one JSON
// line per row. Argument: the calls of a batch.
#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <vector>

namespace {

constexpr int batches = 30;
constexpr int batches_least = 3;
constexpr double enough_s = 0.3;

int rank = 0, ranks = 1;

/// The seconds of one call, of the rank that took longest.
template <class Call>
double batch_s(int calls, Call call) {
  PMPI_Barrier(MPI_COMM_WORLD);
  const double start_s = MPI_Wtime();
  for (int i = 0; i < calls; ++i) call();
  double mine_s = (MPI_Wtime() - start_s) / calls;
  double all_s = 0;
  PMPI_Allreduce(&mine_s, &all_s, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all_s;
}

template <class Ours, class Theirs>
void compare(const char* operation, int size_bytes, int calls, Ours ours, Theirs theirs) {
  double routed_s = std::numeric_limits<double>::infinity();
  double own_s = routed_s;
  double spent_s = 0;  // the same on all ranks
  ours();
  for (int i = 0; i < batches && (i < batches_least || spent_s < enough_s); ++i) {
    const double of_ours_s = batch_s(calls, ours);
    const double of_theirs_s = batch_s(calls, theirs);
    routed_s = std::min(routed_s, of_ours_s);
    own_s = std::min(own_s, of_theirs_s);
    spent_s += calls * (of_ours_s + of_theirs_s);
  }
  if (rank == 0)
    std::printf("{\"operation\": \"%s\", \"bytes\": %d, \"routed_s\": %.4g, \"own_s\": %.4g}\n",
                operation, size_bytes, routed_s, own_s);
}

/// One way of a flag between ranks 0 and 1, each of which waits for the line of the other.
void floor_of_flags(int calls) {
  if (ranks != 2) return;
  MPI_Win window;
  char* memory = nullptr;
  MPI_Win_allocate_shared(rank == 0 ? 4096 : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  MPI_Aint size_bytes = 0;
  int unit_bytes = 0;
  MPI_Win_shared_query(window, 0, &size_bytes, &unit_bytes, &memory);
  auto* flags = reinterpret_cast<std::atomic<long>*>(memory);
  auto& mine = flags[rank * 32];
  auto& other = flags[(1 - rank) * 32];
  if (rank == 0) mine = other = 0;
  long number = 0;
  double fastest_s = std::numeric_limits<double>::infinity();
  for (int i = 0; i < batches; ++i) {
    const double round_s = batch_s(calls, [&] {
      ++number;
      if (rank == 0) mine.store(number, std::memory_order_release);
      while (other.load(std::memory_order_acquire) < number) {
      }
      if (rank == 1) mine.store(number, std::memory_order_release);
    });
    fastest_s = std::min(fastest_s, round_s / 2);
  }
  if (rank == 0) std::printf("{\"floor_s\": %.4g}\n", fastest_s);
  MPI_Win_free(&window);
}

/// Each operation with so many numbers of 8 bytes: of the message, the vector or one block.
void operations(int count, int calls) {
  const auto most = static_cast<std::size_t>(std::max(count, 1) * ranks);
  std::vector<double> in(most), out(most);
  double* const from = in.data();
  double* const to = out.data();
  const MPI_Comm world = MPI_COMM_WORLD;
  const int size_bytes = count * static_cast<int>(sizeof(double));
  const int fewer = std::max(10, calls / (1 + size_bytes / 4096));
  compare(
      "bcast", size_bytes, fewer, [=] { MPI_Bcast(from, count, MPI_DOUBLE, 0, world); },
      [=] { PMPI_Bcast(from, count, MPI_DOUBLE, 0, world); });
  compare(
      "reduce", size_bytes, fewer,
      [=] { MPI_Reduce(from, to, count, MPI_DOUBLE, MPI_SUM, 0, world); },
      [=] { PMPI_Reduce(from, to, count, MPI_DOUBLE, MPI_SUM, 0, world); });
  compare(
      "allreduce", size_bytes, fewer,
      [=] { MPI_Allreduce(from, to, count, MPI_DOUBLE, MPI_SUM, world); },
      [=] { PMPI_Allreduce(from, to, count, MPI_DOUBLE, MPI_SUM, world); });
  compare(
      "allgather", size_bytes, fewer,
      [=] { MPI_Allgather(from, count, MPI_DOUBLE, to, count, MPI_DOUBLE, world); },
      [=] { PMPI_Allgather(from, count, MPI_DOUBLE, to, count, MPI_DOUBLE, world); });
  compare(
      "alltoall", size_bytes, fewer,
      [=] { MPI_Alltoall(from, count, MPI_DOUBLE, to, count, MPI_DOUBLE, world); },
      [=] { PMPI_Alltoall(from, count, MPI_DOUBLE, to, count, MPI_DOUBLE, world); });
  compare(
      "gather", size_bytes, fewer,
      [=] { MPI_Gather(from, count, MPI_DOUBLE, to, count, MPI_DOUBLE, 0, world); },
      [=] { PMPI_Gather(from, count, MPI_DOUBLE, to, count, MPI_DOUBLE, 0, world); });
  compare(
      "scatter", size_bytes, fewer,
      [=] { MPI_Scatter(from, count, MPI_DOUBLE, to, count, MPI_DOUBLE, 0, world); },
      [=] { PMPI_Scatter(from, count, MPI_DOUBLE, to, count, MPI_DOUBLE, 0, world); });
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int calls = argc > 1 ? std::atoi(argv[1]) : 1000;
  floor_of_flags(calls);
  compare(
      "barrier", 0, calls, [] { MPI_Barrier(MPI_COMM_WORLD); },
      [] { PMPI_Barrier(MPI_COMM_WORLD); });
  for (const int count : {0, 1, 8, 64, 256, 512, 1024, 4096, 8192}) operations(count, calls);
  MPI_Finalize();
  return 0;
}
