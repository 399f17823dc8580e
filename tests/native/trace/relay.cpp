// A token goes round all ranks, argument 1 times: nothing happens at the same time.
#include <mpi.h>

#include <cstdlib>
#include <vector>

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<char> token(1000);
  const int right = (rank + 1) % size;
  const int left = (rank + size - 1) % size;
  const auto bytes = static_cast<int>(token.size());
  for (int rounds = std::atoi(words[1]); rounds > 0; --rounds) {
    if (rank == 0) MPI_Send(token.data(), bytes, MPI_CHAR, right, 0, MPI_COMM_WORLD);
    MPI_Recv(token.data(), bytes, MPI_CHAR, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank != 0) MPI_Send(token.data(), bytes, MPI_CHAR, right, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
