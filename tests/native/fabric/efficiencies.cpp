// nhalf-needs: MPI
// Programs whose efficiencies are known before they run, on any even number of ranks: computing is
// sleep, so that ranks need no processor for it. Words: which, rounds, and a unit of computing in
// microseconds.
#include <mpi.h>
#include <time.h>

#include <array>
#include <cstdlib>
#include <string_view>

namespace {

int rank = 0;
int ranks = 0;
long unit_us = 0;
std::array<char, 8> data{};

void compute(long units) {
  const long length_us = units * unit_us;
  const timespec length{length_us / 1'000'000, length_us % 1'000'000 * 1000};
  nanosleep(&length, nullptr);
}

void send(int to) {
  MPI_Send(data.data(), 8, MPI_CHAR, to, 7, MPI_COMM_WORLD);
}

void receive(int from) {
  MPI_Recv(data.data(), 8, MPI_CHAR, from, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/// Rank r computes r + 1 units, then all wait for the last.
void imbalance() {
  compute(rank + 1);
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Each rank in turn computes two units instead of one, and all wait for it.
void barrier(int round) {
  compute(round % ranks == rank ? 2 : 1);
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Each item is a unit on one rank after the other.
void pipeline() {
  if (rank > 0) receive(rank - 1);
  compute(1);
  if (rank + 1 < ranks) send(rank + 1);
}

/// One of two ranks computes four units before it sends, the other one waits after one; they take
/// turns.
void late(int round) {
  const bool sends = rank % 2 == round % 2;
  compute(sends ? 4 : 1);
  sends ? send(rank ^ 1) : receive(rank ^ 1);
}

/// What two ranks exchange is under way while both compute.
void overlap() {
  std::array<char, 8> answer{};
  std::array<MPI_Request, 2> requests{};
  MPI_Irecv(answer.data(), 8, MPI_CHAR, rank ^ 1, 7, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(data.data(), 8, MPI_CHAR, rank ^ 1, 7, MPI_COMM_WORLD, &requests[1]);
  compute(1);
  MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
}

}  // namespace

int main(int count, char** words) {
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::string_view which = words[1];
  const int rounds = std::atoi(words[2]);
  unit_us = std::atol(words[3]);
  for (int round = 0; round < rounds; ++round) {
    if (which == "imbalance") imbalance();
    if (which == "barrier") barrier(round);
    if (which == "pipeline") pipeline();
    if (which == "late") late(round);
    if (which == "overlap") overlap();
  }
  MPI_Finalize();
}
