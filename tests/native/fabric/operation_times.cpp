// Prints what operations take, "operation bytes microseconds": the median over repetitions of the
// longest rank's time, after a barrier. The first word is how many repetitions there are; each
// further one is an operation with sizes, as bcast:1024,65536. After the word `together` all ranks
// begin at one time, for which they sleep: where time is virtual, that is exact.
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Ranks {
  int own = 0;
  int all = 0;
};

/// A message to rank 1 and back, of which the others know nothing: half of what both take.
double pingpong_s(std::vector<char>& data, int bytes, const Ranks& ranks) {
  const double begin_s = MPI_Wtime();
  for (int turn = 0; turn < 2 && ranks.own < 2; ++turn)
    if (ranks.own == turn)
      MPI_Send(data.data(), bytes, MPI_BYTE, 1 - ranks.own, 0, MPI_COMM_WORLD);
    else
      MPI_Recv(data.data(), bytes, MPI_BYTE, 1 - ranks.own, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return (MPI_Wtime() - begin_s) / 2;
}

double once_s(const std::string& operation, int bytes, std::vector<char>& from,
              std::vector<char>& to, const Ranks& ranks) {
  if (operation == "pingpong") return pingpong_s(from, bytes, ranks);
  const double begin_s = MPI_Wtime();
  if (operation == "bcast") MPI_Bcast(from.data(), bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
  if (operation == "allreduce")
    MPI_Allreduce(from.data(), to.data(), bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (operation == "alltoall")
    MPI_Alltoall(from.data(), bytes, MPI_BYTE, to.data(), bytes, MPI_BYTE, MPI_COMM_WORLD);
  if (operation == "barrier") MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Wtime() - begin_s;
}

/// Waits for the others; returns how long ago the operation began for all, without `together` 0.
double began_s(bool together) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (!together) return 0;
  constexpr double later_s = 1;
  double latest_s = MPI_Wtime();
  MPI_Allreduce(MPI_IN_PLACE, &latest_s, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  const double begin_s = latest_s + later_s;
  std::this_thread::sleep_for(std::chrono::duration<double>(begin_s - MPI_Wtime()));
  return MPI_Wtime() - begin_s;
}

double median_s(const std::string& operation, int bytes, int repetitions, bool together,
                const Ranks& ranks) {
  const auto blocks = static_cast<std::size_t>(operation == "alltoall" ? ranks.all : 1);
  const auto length = static_cast<std::size_t>(bytes) * blocks;
  std::vector<char> from(length + 1);
  std::vector<char> to(length + 1);
  std::vector<double> times_s(static_cast<std::size_t>(repetitions));
  // The first one makes connections, and brings memory.
  once_s(operation, bytes, from, to, ranks);
  for (auto& time_s : times_s) {
    const double late_s = began_s(together);
    time_s = late_s + once_s(operation, bytes, from, to, ranks);
  }
  std::vector<double> longest_s(times_s.size());
  MPI_Allreduce(times_s.data(), longest_s.data(), repetitions, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  std::sort(longest_s.begin(), longest_s.end());
  return longest_s[longest_s.size() / 2];
}

}  // namespace

int main(int count, char** words) {
  MPI_Init(&count, &words);
  Ranks ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &ranks.own);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks.all);
  const int repetitions = count > 1 ? std::atoi(words[1]) : 1;
  bool together = false;
  for (int word = 2; word < count; ++word) {
    if (std::string(words[word]) == "together") {
      together = true;
      continue;
    }
    std::istringstream text(words[word]);
    std::string operation;
    std::string size;
    std::getline(text, operation, ':');
    while (std::getline(text, size, ',')) {
      const int bytes = std::atoi(size.c_str());
      const double time_s = median_s(operation, bytes, repetitions, together, ranks);
      if (ranks.own == 0) std::printf("%s %d %.6f\n", operation.c_str(), bytes, time_s * 1e6);
    }
  }
  MPI_Finalize();
}
