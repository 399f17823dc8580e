// After calls that an error handler has left, by a jump or an exception, the program computes and
// sleeps for a while, says by its clocks for how long, and ends in a deadlock.
#include <mpi.h>
#include <setjmp.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <stdexcept>

namespace {

jmp_buf place;
bool throws = false;

void leave(MPI_Comm* /*unused*/, int* /*unused*/, ...) {
  if (throws) throw std::runtime_error("out of a handler");
  longjmp(place, 1);
}

template <int bytes>
[[gnu::noinline]] void fail_below() {
  volatile char room[bytes];
  room[0] = 1;
  double nothing = 0;
  MPI_Send(&nothing, 1, MPI_DOUBLE, 99, 1, MPI_COMM_WORLD);
  room[bytes - 1] = room[0];
}

double clock_s(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Computes for a quarter of a second of the processor's time.
void compute() {
  const double begin_s = clock_s(CLOCK_THREAD_CPUTIME_ID);
  while (clock_s(CLOCK_THREAD_CPUTIME_ID) - begin_s < 0.25) continue;
}

void after(void (*failing)(), int rank) {
  if (setjmp(place) == 0) {
    try {
      failing();
    } catch (const std::runtime_error&) {
    }
  }
  const double begin_s = MPI_Wtime();
  usleep(500'000);
  const double woken_s = MPI_Wtime();
  const double clock_begin_s = clock_s(CLOCK_MONOTONIC);
  compute();
  const double computed_s = clock_s(CLOCK_MONOTONIC) - clock_begin_s;
  if (rank == 0) std::printf("slept %.2f s, computed %.1f s\n", woken_s - begin_s, computed_s);
  std::fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(&leave, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  throws = std::strcmp(words[1], "exception") == 0;
  for (void (*failing)() : {&fail_below<16>, &fail_below<2'000>, &fail_below<50'000>})
    after(failing, rank);
  double got = 0;
  MPI_Recv(&got, 1, MPI_DOUBLE, 1 - rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
