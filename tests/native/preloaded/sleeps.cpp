// Three seconds, a barrier every tenth of one.
#include <mpi.h>
#include <unistd.h>

int main(int words, char** word) {
  MPI_Init(&words, &word);
  for (int time = 0; time < 30; ++time) {
    usleep(100'000);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
