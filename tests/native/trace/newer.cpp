// Makes a call that only newer libraries have, beside some that all have.
#include <mpi.h>

#include <array>

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int out = rank;
  int in = -1;
  std::array<MPI_Request, 2> requests{};
  MPI_Irecv(&in, 1, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(&out, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD, &requests[1]);
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
  int flag = 0;
  MPI_Request_get_status_all(2, requests.data(), &flag, MPI_STATUSES_IGNORE);
#endif
  MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
  for (int time = 0; time < 3; ++time)
    MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  const bool is_right = in == (rank + size - 1) % size && out == size * (size - 1) / 2;
  MPI_Finalize();
  return is_right ? 0 : 1;
}
