// Programs with several threads, by name: those that call MPI in turn, and at once.
#include <mpi.h>
#include <time.h>

#include <cstdio>
#include <string_view>
#include <thread>

namespace {

constexpr int rounds = 20;

void exchange(int rank, int round) {
  int got = 0;
  MPI_Sendrecv(&round, 1, MPI_INT, 1 - rank, 1, &got, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  if (got != round) std::printf("wrong data\n");
}

/// One thread after the other, the first one too.
void in_turn(int rank) {
  for (int round = 0; round < rounds; ++round) {
    if (round % 3 == 0)
      exchange(rank, round);
    else
      std::thread([&] { exchange(rank, round); }).join();
  }
  if (rank == 0) std::printf("%.12f\n", MPI_Wtime());
}

/// Waits for a message that another thread would ask for.
void at_once(int rank) {
  int got = 0;
  std::thread other;
  if (rank == 0) {
    other = std::thread([] {
      const timespec pause{0, 200'000'000};
      nanosleep(&pause, nullptr);
      const int asked = 1;
      MPI_Send(&asked, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    });
    MPI_Recv(&got, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    other.join();
  } else {
    MPI_Recv(&got, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&got, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
  }
}

/// Computes for some of the processor's time.
void compute(double milliseconds) {
  timespec now{};
  do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  while (static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6 <
         milliseconds);
}

/// Two threads compute, the first one does not: seconds that they take.
void team() {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  std::thread one([] { compute(30); });
  std::thread other([] { compute(60); });
  one.join();
  other.join();
  std::printf("%.6f\n", MPI_Wtime() - begin);
}

/// All of them read the clock, which none of them stops or moves.
void clocks() {
  const double begin = MPI_Wtime();
  double read = 0;
  std::thread([&] { read = MPI_Wtime(); }).join();
  std::printf("%d\n", read == begin ? 1 : 0);
}

}  // namespace

int main(int count, char** words) {
  int level = 0;
  const std::string_view way = count > 1 ? words[1] : "";
  MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &level);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (way == "level") std::printf("%d\n", level == MPI_THREAD_SERIALIZED ? 1 : 0);
  if (way == "in-turn") in_turn(rank);
  if (way == "at-once") at_once(rank);
  if (way == "team") team();
  if (way == "clocks") clocks();
  MPI_Finalize();
}
