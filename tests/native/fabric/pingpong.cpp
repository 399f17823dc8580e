// Prints sizes and half of a round trip, in picoseconds.
#include <mpi.h>

#include <cstdio>
#include <vector>

int main(int count, char** words) {
  constexpr int rounds = 10;
  MPI_Init(&count, &words);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<char> data(1 << 22, static_cast<char>(rank + 1));
  for (int size = 0; size <= 1 << 22; size = size == 0 ? 1 : 4 * size) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int round = 0; round < rounds && rank < 2; ++round)
      for (int turn = 0; turn < 2; ++turn)
        if (rank == turn)
          MPI_Send(data.data(), size, MPI_BYTE, 1 - rank, 7, MPI_COMM_WORLD);
        else
          MPI_Recv(data.data(), size, MPI_BYTE, 1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const double taken = MPI_Wtime() - begin;
    if (rank == 0) std::printf("%d %.3f\n", size, taken / rounds / 2 * 1e12);
    for (int at = 0; at < size && rank < 2; ++at)
      if (data[static_cast<std::size_t>(at)] != 1) std::printf("wrong data\n");
    if (rank == 1) std::fill(data.begin(), data.end(), char{2});
  }
  MPI_Finalize();
}
