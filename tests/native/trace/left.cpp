// Rank 1 sends rank 0 as many messages as argument 1 says that nobody receives; both exchange short
// and long ones. With a second argument the program asks the library itself, and tells whether that
// is over when it has ended.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<char> data(1 << 20);
  const int left = count > 1 ? std::atoi(words[1]) : 0;
  for (int message = 0; rank == 1 && message < left; ++message)
    MPI_Send(data.data(), 8, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
  for (const int size_bytes : {8, 1 << 20}) {
    if (rank == 1) MPI_Send(data.data(), size_bytes, MPI_CHAR, 0, 2, MPI_COMM_WORLD);
    if (rank == 0)
      MPI_Recv(data.data(), size_bytes, MPI_CHAR, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Bcast(data.data(), 8, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (count > 2) {
    int level = 0;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
    MPI_T_finalize();
  }
  MPI_Finalize();
  int variables = 0;
  const bool is_over = MPI_T_cvar_get_num(&variables) != MPI_SUCCESS;
  if (rank == 0) std::printf("%s\n", is_over ? "over" : "open");
}
