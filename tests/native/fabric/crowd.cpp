// Messages from any source, collective operations and looks for messages: prints what came, and
// when, in the order in which it came.
#include <mpi.h>

#include <cstdio>
#include <vector>

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int round = 0; round < 3; ++round) {
    std::vector<double> data(static_cast<std::size_t>(100 * (1 + (rank * 7 + round) % 5)), rank);
    if (rank > 0) {
      MPI_Send(data.data(), static_cast<int>(data.size()), MPI_DOUBLE, 0, round, MPI_COMM_WORLD);
    } else {
      for (int other = 1; other < ranks; ++other) {
        std::vector<double> room(500);
        MPI_Status status;
        MPI_Recv(room.data(), 500, MPI_DOUBLE, MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &status);
        std::printf("from %d at %.12f\n", status.MPI_SOURCE, MPI_Wtime());
        if (room[0] != status.MPI_SOURCE) std::printf("wrong data\n");
      }
    }
    double sum = 0;
    const double own = rank;
    MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) std::printf("sum %.0f at %.12f\n", sum, MPI_Wtime());
    int is_there = 0;
    int looks = 0;
    const int next = (rank + 1) % ranks;
    MPI_Request request;
    MPI_Isend(&own, 1, MPI_DOUBLE, next, 9, MPI_COMM_WORLD, &request);
    while (is_there == 0) {
      MPI_Iprobe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
      ++looks;
    }
    double got = 0;
    MPI_Recv(&got, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 0) std::printf("%d looks until %.12f\n", looks, MPI_Wtime());
  }
  MPI_Finalize();
}
