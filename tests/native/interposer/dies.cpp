// An unchanged MPI program whose rank 1 dies at its first collectives. Arguments: after how many
// microseconds, of which signal, and how many numbers are added up.
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const auto after = std::chrono::microseconds(argc > 1 ? std::atoi(argv[1]) : 0);
  const int signal = argc > 2 ? std::atoi(argv[2]) : SIGKILL;
  std::vector<int> values(argc > 3 ? static_cast<std::size_t>(std::atoi(argv[3])) : 1);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::thread death;
  if (rank == 1)
    death = std::thread([=] {
      std::this_thread::sleep_for(after);
      kill(getpid(), signal);
    });
  for (;;) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    int value = rank;
    MPI_Barrier(comm);
    MPI_Bcast(&value, 1, MPI_INT, 0, comm);
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_INT, MPI_MAX,
                  comm);
    MPI_Comm_free(&comm);
  }
}
