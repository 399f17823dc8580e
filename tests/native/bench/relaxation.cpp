// A program of the shape of many solvers: each step computes, exchanges halos with both neighbours,
// sums a residual over all ranks and waits for them. Prints the seconds of all steps; its argument
// is their number.
#include <mpi.h>

#include <array>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr int values = 2000, halo_values = 512;

std::array<double, values> own;
std::array<double, halo_values> halo;

void exchange(int from, int to, int tag) {
  MPI_Sendrecv(own.data(), halo_values, MPI_DOUBLE, to, tag, halo.data(), halo_values, MPI_DOUBLE,
               from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int steps = argc > 1 ? std::atoi(argv[1]) : 20000;
  const int before = (rank + ranks - 1) % ranks, after = (rank + 1) % ranks;
  double residual = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin_s = MPI_Wtime();
  for (int step = 0; step < steps; ++step) {
    for (int i = 0; i < values; ++i) own[i] = 0.5 * own[i] + i + 1e-300 * residual;
    exchange(before, after, 0);
    exchange(after, before, 1);
    MPI_Allreduce(&own[step % values], &residual, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  const double took_s = MPI_Wtime() - begin_s;
  if (rank == 0) std::printf("{\"took_s\": %.9f, \"residual\": %.17g}\n", took_s, residual);
  MPI_Finalize();
  return 0;
}
