// nhalf-needs: MPI
// Programs whose times are known before they run: computing is sleep, which is virtual. The first
// word says which; each is a few lines.
#include <mpi.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string_view>
#include <vector>

namespace {

/// Where virtual clocks begin.
constexpr time_t virtual_begin_s = 1'000'000'000;

int rank = 0;
int ranks = 0;

void compute_ms(int milliseconds) {
  usleep(static_cast<useconds_t>(1000 * milliseconds));
}

void send(std::vector<char>& data, int to) {
  MPI_Send(data.data(), static_cast<int>(data.size()), MPI_CHAR, to, 7, MPI_COMM_WORLD);
}

void receive(std::vector<char>& data, int from) {
  MPI_Recv(data.data(), static_cast<int>(data.size()), MPI_CHAR, from, 7, MPI_COMM_WORLD,
           MPI_STATUS_IGNORE);
}

/// Three rounds: a message to the right, one from the left, a sum.
void ring() {
  std::vector<char> out(1000);
  std::vector<char> in(1000);
  std::array<double, 125> part{};
  std::array<double, 125> sum{};
  for (int round = 0; round < 3; ++round) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(out.data(), 1000, MPI_CHAR, (rank + 1) % ranks, 7, MPI_COMM_WORLD, &request);
    receive(in, (rank + ranks - 1) % ranks);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Allreduce(part.data(), sum.data(), 125, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}

/// Ten messages close behind each other to the right, then ten back: the receiver waits for each.
void burst() {
  std::vector<char> data(1000);
  for (int round = 0; round < 6; ++round) {
    const bool sends = rank % 2 == round % 2;
    const int other = rank ^ 1;
    for (int message = 0; message < 10; ++message)
      if (sends)
        send(data, other);
      else
        receive(data, other);
  }
}

/// The time of a sum once all ranks begin at once.
void operations() {
  std::array<double, 125> part{};
  std::array<double, 125> sum{};
  double slowest_s = 0;
  for (int round = 0; round < 2; ++round) {
    // No operation lasts a second: all ranks wake up at once.
    const timespec begin{virtual_begin_s + 1 + round, 0};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &begin, nullptr);
    const double before_s = MPI_Wtime();
    MPI_Allreduce(part.data(), sum.data(), 125, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    slowest_s = MPI_Wtime() - before_s;
  }
  std::printf("%.12f\n", slowest_s);
}

/// Rank r computes r + 1 ms, then all wait for the last.
void imbalance() {
  compute_ms(rank + 1);
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Each rank computes 1 ms, but rank 0 computes 3 ms more before it sends to rank 1.
void late_sender() {
  std::vector<char> data(8);
  compute_ms(rank == 0 ? 4 : 1);
  if (rank == 0) send(data, 1);
  if (rank == 1) receive(data, 0);
}

/// Each rank computes 1 ms once the rank before has sent to it.
void pipeline() {
  std::vector<char> data(8);
  if (rank > 0) receive(data, rank - 1);
  compute_ms(1);
  if (rank + 1 < ranks) send(data, rank + 1);
}

/// Rank 0 sends to one in the middle, which computes 1 ms before it waits for that.
void overlap() {
  std::vector<char> data(1000);
  const int other = ranks / 2;
  if (rank == 0) send(data, other);
  if (rank != other) return;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(data.data(), 1000, MPI_CHAR, 0, 7, MPI_COMM_WORLD, &request);
  compute_ms(1);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/// All compute 1 ms; even ranks send 1 MB to the next ones ten times, which answer.
void transfer() {
  std::vector<char> data(1'000'000);
  compute_ms(1);
  for (int round = 0; round < 10; ++round) {
    if (rank % 2 == 0) send(data, rank + 1);
    receive(data, rank % 2 == 0 ? rank + 1 : rank - 1);
    if (rank % 2 == 1) send(data, rank - 1);
  }
}

}  // namespace

int main(int count, char** words) {
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::string_view which = count > 1 ? words[1] : "";
  if (which == "ring") ring();
  if (which == "burst") burst();
  if (which == "operations") operations();
  if (which == "imbalance") imbalance();
  if (which == "late") late_sender();
  if (which == "pipeline") pipeline();
  if (which == "overlap") overlap();
  if (which == "transfer") transfer();
  MPI_Finalize();
}
