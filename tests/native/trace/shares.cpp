// Programs whose shares are known: `shares WORD TIMES`. A site is the line of a call.
#include <mpi.h>

#include <cstdlib>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

namespace {

int rank = 0;
int ranks = 1;

/// Computes until this thread had a processor for so long.
void compute(double seconds) {
  timespec begin{};
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  while (static_cast<double>(now.tv_sec - begin.tv_sec) +
             1e-9 * static_cast<double>(now.tv_nsec - begin.tv_nsec) <
         seconds);
}

/// One site sends messages of many sizes from each even rank to the next one.
void sizes(int times) {
  std::vector<char> data(300'000);
  for (int number = 0; number < times; ++number) {
    const int size = 100'000 + 997 * (number % 200);
    if (rank % 2 == 0)
      MPI_Send(data.data(), size, MPI_BYTE, rank + 1, 0, MPI_COMM_WORLD);  // site
    else
      MPI_Recv(data.data(), size, MPI_BYTE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (number % 20 == 0) MPI_Barrier(MPI_COMM_WORLD);
  }
}

/// Windows are made and freed in a loop.
void windows(int times) {
  for (int number = 0; number < times; ++number) {
    MPI_Win window{};
    int* memory = nullptr;
    MPI_Win_allocate(64, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_free(&window);
  }
}

/// The first rank computes twice as long as the others, for 10 ms each time.
void imbalance(int times) {
  for (int number = 0; number < times; ++number) {
    compute(rank == 0 ? 0.02 : 0.01);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

/// Both exchange a number; each call sends and receives.
void exchange(int times) {
  for (int number = 0; number < times; ++number) {
    int sent = rank;
    int received = 0;
    MPI_Sendrecv(&sent, 1, MPI_INT, (rank + 1) % ranks, 0, &received, 1, MPI_INT,  // site
                 (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

/// Four threads of each rank communicate while the first one sleeps.
void threads(int times) {
  std::vector<MPI_Comm> comms(4);
  for (auto& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::vector<std::thread> running;
  for (const auto comm : comms)
    running.emplace_back([comm, times] {
      int most = 0;
      for (int number = 0; number < times; ++number) {
        compute(0.001);
        MPI_Allreduce(&rank, &most, 1, MPI_INT, MPI_MAX, comm);
      }
    });
  for (auto& thread : running) thread.join();
}

}  // namespace

int main(int count, char** words) {
  int level = 0;
  MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::string word = count > 1 ? words[1] : "";
  const int times = count > 2 ? std::atoi(words[2]) : 1;
  if (word == "sizes") sizes(times);
  if (word == "windows") windows(times);
  if (word == "imbalance") imbalance(times);
  if (word == "exchange") exchange(times);
  if (word == "threads") threads(times);
  if (word == "fails") std::exit((MPI_Finalize(), 3));
  MPI_Finalize();
}
