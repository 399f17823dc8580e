// Messages that begin at one time: `flows BYTES FROM-TO…`. Every receiver prints its number and how
// long its message took, in picoseconds.
#include <mpi.h>
#include <time.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

/// Waits for a time that is later than all ranks are, so that they go on together.
void meet() {
  MPI_Barrier(MPI_COMM_WORLD);
  const double left = 1.0 - MPI_Wtime();
  const timespec time{0, std::lround(left * 1e9)};
  nanosleep(&time, nullptr);
}

}  // namespace

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int size = std::atoi(words[1]);
  std::vector<char> out(static_cast<std::size_t>(size), static_cast<char>(rank + 1));
  std::vector<char> in(static_cast<std::size_t>(size));
  std::vector<MPI_Request> requests;
  int received = -1;
  meet();
  for (int at = 2; at < count; ++at) {
    int from = 0;
    int to = 0;
    std::sscanf(words[at], "%d-%d", &from, &to);
    if (rank == to) {
      received = from;
      MPI_Irecv(in.data(), size, MPI_BYTE, from, 1, MPI_COMM_WORLD, &requests.emplace_back());
    }
    if (rank == from)
      MPI_Isend(out.data(), size, MPI_BYTE, to, 1, MPI_COMM_WORLD, &requests.emplace_back());
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  const double taken = MPI_Wtime() - 1.0;
  if (received >= 0) std::printf("%d %.0f\n", rank, taken * 1e12);
  if (received >= 0 && in[in.size() / 2] != received + 1) std::printf("wrong data\n");
  MPI_Finalize();
}
