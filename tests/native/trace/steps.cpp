// Computes in steps of argument 1 microseconds, sleeping, with an MPI_Allreduce after each, for
// argument 2 seconds. From argument 4 seconds on rank argument 3 computes argument 5 times as long,
// until argument 6 seconds if that is given.
#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <thread>

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const double step_us = std::atof(words[1]);
  const double end_s = std::atof(words[2]);
  const bool may_be_late = rank == std::atoi(words[3]);
  const double from_s = std::atof(words[4]);
  const double factor = std::atof(words[5]);
  const double until_s = count > 6 ? std::atof(words[6]) : 1e9;
  std::mt19937 random(static_cast<unsigned>(rank));
  std::uniform_real_distribution<double> spread(0.95, 1.05);
  MPI_Barrier(MPI_COMM_WORLD);
  const double began_s = MPI_Wtime();
  double elapsed_s = 0;
  for (int goes_on = 1; goes_on != 0;) {
    const bool is_late = may_be_late && elapsed_s >= from_s && elapsed_s < until_s;
    const double us = step_us * (is_late ? factor : 1) * spread(random);
    std::this_thread::sleep_for(std::chrono::nanoseconds(static_cast<std::int64_t>(us * 1000)));
    elapsed_s = MPI_Wtime() - began_s;
    const int own = elapsed_s < end_s ? 1 : 0;
    MPI_Allreduce(&own, &goes_on, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  }
  MPI_Finalize();
}
