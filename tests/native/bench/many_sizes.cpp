// Calls every collective operation once with each of as many sizes as the argument says, multiples
// of 4 bytes in an order that hits all classes of sizes alike. Prints the seconds that this took
// between two barriers, and a digest of what came out, which does not depend on ways.
#include <mpi.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

namespace {

/// Data of a rank, and what calls leave behind.
struct Ranks {
  int rank = 0, size = 1;
  std::vector<std::int32_t> own, others;
  std::uint32_t digest = 17;

  explicit Ranks(int values_most) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    own.resize(static_cast<std::size_t>(values_most) * static_cast<std::size_t>(size));
    others.resize(own.size());
    std::iota(own.begin(), own.end(), rank);
  }
  void note(int values) {
    digest =
        digest * 31U + static_cast<std::uint32_t>(others[static_cast<std::size_t>(values) - 1]);
  }
};

void call(Ranks& all, int operation, int values) {
  const MPI_Comm world = MPI_COMM_WORLD;
  void *in = all.own.data(), *out = all.others.data();
  switch (operation) {
    case 0:
      MPI_Barrier(world);
      break;
    case 1:
      MPI_Bcast(out, values, MPI_INT32_T, 0, world);
      break;
    case 2:
      MPI_Reduce(in, out, values, MPI_INT32_T, MPI_SUM, 0, world);
      break;
    case 3:
      MPI_Allreduce(in, out, values, MPI_INT32_T, MPI_SUM, world);
      break;
    case 4:
      MPI_Allgather(in, values, MPI_INT32_T, out, values, MPI_INT32_T, world);
      break;
    case 5:
      MPI_Alltoall(in, values, MPI_INT32_T, out, values, MPI_INT32_T, world);
      break;
    case 6:
      MPI_Gather(in, values, MPI_INT32_T, out, values, MPI_INT32_T, 0, world);
      break;
    case 7:
      MPI_Scatter(in, values, MPI_INT32_T, out, values, MPI_INT32_T, 0, world);
      break;
    case 8:
      MPI_Reduce_scatter_block(in, out, values, MPI_INT32_T, MPI_SUM, world);
      break;
    default:
      MPI_Scan(in, out, values, MPI_INT32_T, MPI_SUM, world);
  }
  all.note(values);
}

}  // namespace

int main(int count, char** words) {
  MPI_Init(&count, &words);
  const int sizes = count > 1 ? std::atoi(words[1]) : 10000;
  constexpr int operations = 10, stride = 7919;
  Ranks all(sizes);
  MPI_Barrier(MPI_COMM_WORLD);
  const double start_s = MPI_Wtime();
  for (int i = 0; i < sizes; ++i)
    for (int operation = 0; operation < operations; ++operation)
      call(all, operation, 1 + static_cast<int>(std::int64_t{stride} * i % sizes));
  MPI_Barrier(MPI_COMM_WORLD);
  const double took_s = MPI_Wtime() - start_s;
  if (all.rank == 0) std::printf("{\"took_s\":%.9f,\"digest\":%u}\n", took_s, all.digest);
  MPI_Finalize();
}
