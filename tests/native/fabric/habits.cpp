// Ways to wait and to end, by name.
#include <mpi.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

/// Sends to the next rank without waiting, and receives from the previous one.
void ring(int rank, int ranks) {
  int got = 0;
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % ranks, 1, &got, 1, MPI_INT,
               (rank + ranks - 1) % ranks, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/// Both wait for a message that neither sends.
void deadlock(int rank) {
  int got = 0;
  MPI_Recv(&got, 1, MPI_INT, 1 - rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/// The same with a look after the other.
void endless_looks(int rank) {
  int got = 0;
  int is_there = 0;
  MPI_Request request;
  MPI_Irecv(&got, 1, MPI_INT, 1 - rank, 5, MPI_COMM_WORLD, &request);
  if (rank == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
  while (is_there == 0) MPI_Test(&request, &is_there, MPI_STATUS_IGNORE);
}

/// Looks for an answer, and receives it, while the other waits for the receipt.
void probe(int rank) {
  MPI_Status status;
  MPI_Message message;
  for (const bool is_claimed : {false, true}) {
    if (rank == 1) {
      usleep(100);
      MPI_Ssend(nullptr, 0, MPI_INT, 0, 5, MPI_COMM_WORLD);
      MPI_Recv(nullptr, 0, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (is_claimed) {
      MPI_Mprobe(1, 5, MPI_COMM_WORLD, &message, &status);
      MPI_Mrecv(nullptr, 0, MPI_INT, &message, MPI_STATUS_IGNORE);
    } else {
      MPI_Probe(1, 5, MPI_COMM_WORLD, &status);
      MPI_Recv(nullptr, 0, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (rank == 0) MPI_Send(nullptr, 0, MPI_INT, 1, 6, MPI_COMM_WORLD);
  }
  if (rank == 0) std::puts("probed");
}

/// A millisecond by the clock.
void clock_loop() {
  const double begin = MPI_Wtime();
  long reads = 1;
  while (MPI_Wtime() - begin < 1e-3) ++reads;
  std::printf("%ld reads\n", reads);
}

/// A millisecond of looks for a message that does not come.
void test_loop() {
  const double begin = MPI_Wtime();
  int got = 0;
  int is_there = 0;
  long looks = 0;
  MPI_Request request;
  MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &request);
  for (; MPI_Wtime() - begin < 1e-3; ++looks) MPI_Test(&request, &is_there, MPI_STATUS_IGNORE);
  MPI_Cancel(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  std::printf("%ld looks\n", looks);
}

/// Seconds that pass by the C library's clock in two seconds of sleep.
void sleeping() {
  timespec begin{};
  timespec end{};
  clock_gettime(CLOCK_MONOTONIC, &begin);
  sleep(1);
  usleep(1'000'000);
  clock_gettime(CLOCK_MONOTONIC, &end);
  std::printf("%ld seconds\n", static_cast<long>(end.tv_sec - begin.tv_sec));
}

/// Libraries may go the way of their later barriers not at the first one.
void barriers() {
  for (int time = 0; time < 3; ++time) MPI_Barrier(MPI_COMM_WORLD);
}

/// Whether a rank may use other cores after its waits than before.
void cores() {
  cpu_set_t begin;
  cpu_set_t end;
  sched_getaffinity(0, sizeof begin, &begin);
  for (int time = 0; time < 10; ++time) MPI_Barrier(MPI_COMM_WORLD);
  sched_getaffinity(0, sizeof end, &end);
  // In one piece: what several ranks print may come mixed.
  std::fputs(CPU_EQUAL(&begin, &end) != 0 ? "as before\n" : "others\n", stdout);
}
/// The same for one that binds itself.
void binding() {
  cpu_set_t own;
  CPU_ZERO(&own);
  CPU_SET(sched_getcpu(), &own);
  sched_setaffinity(0, sizeof own, &own);
  cores();
}

/// Waits for what nobody does outside MPI.
void outside(int rank) {
  int ends[2];
  char byte = 0;
  if (rank == 1 && pipe(ends) == 0) static_cast<void>(read(ends[0], &byte, 1));
}

/// Goes on until it is ended from outside, after a word.
void endless(int rank) {
  if (rank == 0) std::puts("begun");
  std::fflush(stdout);
  while (true) MPI_Barrier(MPI_COMM_WORLD);
}

/// Says more than a pipe holds, again and again.
void chatter(int rank) {
  for (long number = 0; number < 200'000; ++number) {
    if (rank == 0) std::printf("line %ld\n", number);
    if (number % 1000 == 0) MPI_Barrier(MPI_COMM_WORLD);
  }
}

/// Sends to a rank that does not exist.
void wrong(int ranks) {
  MPI_Send(nullptr, 0, MPI_BYTE, ranks, 0, MPI_COMM_WORLD);
}

/// Looks for a file that nobody writes; sleep moves the rank's virtual clock.
void poll() {
  while (access("/nowhere", F_OK) != 0) usleep(1000);
}

/// Sends what nobody receives.
void pile(int rank) {
  static char data[16384];
  if (rank != 0) deadlock(rank);
  for (int time = 0; time < 100'000; ++time)
    MPI_Send(data, sizeof data, MPI_BYTE, 1, 6, MPI_COMM_WORLD);
}

/// What a rank takes of the host's memory in KiB, after operations of all ranks.
void memory() {
  double given = 1;
  double sum = 0;
  MPI_Allreduce(&given, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int time = 0; time < 3; ++time) MPI_Barrier(MPI_COMM_WORLD);
  std::FILE* const file = std::fopen("/proc/self/smaps_rollup", "r");
  char line[256];
  long size_KiB = 0;
  while (file != nullptr && std::fgets(line, sizeof line, file) != nullptr)
    if (std::sscanf(line, "Pss: %ld", &size_KiB) == 1) std::printf("%ld\n", size_KiB);
  if (file != nullptr) std::fclose(file);
  MPI_Barrier(MPI_COMM_WORLD);
}

void act(std::string_view habit, int rank, int ranks) {
  if (habit == "deadlock") deadlock(rank);
  if (habit == "pile") pile(rank);
  if (habit == "memory") memory();
  if (habit == "endless") endless_looks(rank);
  if (habit == "probe") probe(rank);
  if (habit == "clock") clock_loop();
  if (habit == "test") test_loop();
  if (habit == "sleep") sleeping();
  if (habit == "cores") cores();
  if (habit == "binding") binding();
  if (habit == "outside") outside(rank);
  if (habit == "poll" && rank == 1) poll();
  if (habit == "barriers") barriers();
  if (habit == "kill" && rank == 1) raise(SIGKILL);
  if (habit == "on") endless(rank);
  if (habit == "chatter") chatter(rank);
  if (habit == "wrong" && rank == 1) wrong(ranks);
  if (habit == "exit" && rank == 1) std::exit(0);
  if (habit == "abort" && rank == 1) MPI_Abort(MPI_COMM_WORLD, 7);
  ring(rank, ranks);
}

/// Ends a rank with a code, before MPI_Finalize.
void end_early(std::string_view habit, int code) {
  if (habit == "exit-code") std::exit(code);
  if (habit == "end-code") _exit(code);
  if (habit == "quick-code") std::quick_exit(code);
  if (habit == "abort-code") MPI_Abort(MPI_COMM_WORLD, code);
  if (habit == "signal") raise(code);
}

/// Ends a rank with a code that it is given, after MPI_Finalize.
int end_late(std::string_view habit, int code) {
  if (habit == "exit-late") std::exit(code);
  if (habit == "signal-late") raise(code);
  return code;
}

}  // namespace

int main(int count, char** words) {
  if (count > 1 && std::string_view(words[1]) == "never") pause();
  MPI_Init(&count, &words);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Barrier(MPI_COMM_WORLD);
  // Rank 1 ends early by the code that follows, and late each rank by its own.
  if (rank == 1 && count > 2) end_early(words[1], std::atoi(words[2]));
  act(count > 1 ? words[1] : "", rank, ranks);
  MPI_Finalize();
  if (count == 2 + ranks) return end_late(words[1], std::atoi(words[2 + rank]));
  if (rank == 1 && count > 1 && std::string_view(words[1]) == "after") poll();
  return count > 2 ? 3 : 0;
}
