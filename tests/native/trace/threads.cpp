// Threads of two ranks that talk at the same time, each on a communicator of its own.
#include <mpi.h>

#include <array>
#include <thread>
#include <vector>

int main(int count, char** words) {
  int provided = 0;
  MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) {
    MPI_Finalize();
    return 42;
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::array<MPI_Comm, 3> own{};
  for (auto& one : own) MPI_Comm_dup(MPI_COMM_WORLD, &one);
  std::vector<std::thread> threads;
  for (int number = 0; number < 3; ++number)
    threads.emplace_back([=] {
      std::array<char, 100> data{};
      MPI_Comm comm = own[static_cast<std::size_t>(number)];
      for (int time = 0; time < 500; ++time) {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Irecv(data.data(), 100, MPI_CHAR, MPI_ANY_SOURCE, 0, comm, &request);
        MPI_Send(data.data() + 50, number + 1, MPI_CHAR, 1 - rank, 0, comm);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      }
    });
  for (auto& one : threads) one.join();
  MPI_Finalize();
}
