// Sends without end, and ends after argument 2 microseconds as argument 3 says: all ranks are
// killed, or rank 0 alone is killed (one), aborts or exits with 7. What each has sent it says in
// the file of argument 1, which the kernel keeps.
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

std::atomic<std::uint64_t>& said(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT, 0644);
  if (file < 0 || ftruncate(file, sizeof(std::uint64_t)) != 0) std::abort();
  void* where = mmap(nullptr, sizeof(std::uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (where == MAP_FAILED) std::abort();
  return *static_cast<std::atomic<std::uint64_t>*>(where);
}

void die_after(long microseconds, const std::string& how) {
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = how == "abort" ? SIGABRT : how == "exit" ? SIGUSR1 : SIGKILL;
  signal(SIGUSR1, [](int) { _exit(7); });
  timer_t timer{};
  const itimerspec when{{0, 0}, {microseconds / 1'000'000, microseconds % 1'000'000 * 1000 + 1}};
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) std::abort();
  timer_settime(timer, 0, &when, nullptr);
}

}  // namespace

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  auto& sent = said(std::string(words[1]) + std::to_string(rank));
  char data[8] = {};
  MPI_Barrier(MPI_COMM_WORLD);
  const std::string how = words[3];
  if (rank == 0 || how == "all") die_after(std::atol(words[2]), how);
  for (;;) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(data, 8, MPI_CHAR, rank, 0, MPI_COMM_WORLD, &request);
    MPI_Send(data, 8, MPI_CHAR, rank, 0, MPI_COMM_WORLD);
    sent.fetch_add(1, std::memory_order_relaxed);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}
