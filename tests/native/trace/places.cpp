// Calls of MPI at known lines: those with a comment `site` are made `times` times each.
#include <mpi.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>

namespace {

constexpr int times = 20;

/// Computes for as long as it takes to use some processor time.
void compute(long nanoseconds) {
  timespec begin{};
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  do {
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while ((now.tv_sec - begin.tv_sec) * 1'000'000'000L + now.tv_nsec - begin.tv_nsec <
           nanoseconds);
}

}  // namespace

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double value = rank;
  double received = 0;
  for (int time = 0; time < times; ++time) {
    compute(2'000'000);
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);  // site
    MPI_Request request;
    MPI_Irecv(&received, 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &request);  // site
    MPI_Send(&value, 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD);                // site
    MPI_Wait(&request, MPI_STATUS_IGNORE);                                       // site
  }
  for (int time = 0; time < times; ++time)
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);  // site
  // A sleep is no processor time, and nobody else's either.
  for (int time = 0; time < times; ++time) {
    usleep(4000);
    MPI_Barrier(MPI_COMM_WORLD);  // site
  }
  if (count > 1) {
    // The launcher kills the other ranks, which may not have returned from the barrier yet.
    usleep(500'000);
    kill(getpid(), SIGKILL);
  }
  MPI_Finalize();
}
