// Prints an operation, its size, and when each rank entered and left it, in picoseconds. Arguments
// are operations and sizes: bcast 8 barrier 0.
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace {

/// Reading the clock takes this long, which is no part of the operation.
constexpr double clock_s = 10e-9;

struct Stay {
  double begin_s;
  double end_s;
};

void operate(std::string_view operation, int size_bytes, std::vector<double>& in,
             std::vector<double>& out) {
  const int numbers = size_bytes / 8;
  if (operation == "bcast")
    MPI_Bcast(in.data(), numbers, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  else if (operation == "allreduce")
    MPI_Allreduce(in.data(), out.data(), numbers, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  else
    MPI_Barrier(MPI_COMM_WORLD);
}

/// Whether an operation left what it should.
bool is_right(std::string_view operation, const std::vector<double>& in,
              const std::vector<double>& out, int ranks) {
  const double sum = ranks * (ranks - 1) / 2.0;
  for (const double value : operation == "allreduce" ? out : in)
    if (operation == "bcast" ? value != 0 : operation == "allreduce" && value != sum) return false;
  return true;
}

/// Runs an operation once. Nothing else is on its way meanwhile, because ways into a rank are
/// shared with what its neighbours do before and after.
Stay timed(std::string_view operation, int size_bytes, int rank, int ranks) {
  std::vector<double> in(static_cast<std::size_t>(size_bytes) / 8, rank);
  std::vector<double> out(in.size(), -1);
  MPI_Barrier(MPI_COMM_WORLD);
  usleep(100'000);
  Stay stay{};
  stay.begin_s = MPI_Wtime();
  operate(operation, size_bytes, in, out);
  stay.end_s = MPI_Wtime() - clock_s;
  usleep(100'000);
  if (!is_right(operation, in, out, ranks)) std::printf("wrong data\n");
  return stay;
}

}  // namespace

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<Stay> stays(static_cast<std::size_t>(ranks));
  for (int word = 1; word + 1 < count; word += 2) {
    const int size_bytes = std::atoi(words[word + 1]);
    // The first one may make what the others only use.
    timed(words[word], size_bytes, rank, ranks);
    const Stay own = timed(words[word], size_bytes, rank, ranks);
    MPI_Gather(&own, 2, MPI_DOUBLE, stays.data(), 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (rank != 0) continue;
    std::printf("%s %d", words[word], size_bytes);
    for (const auto& stay : stays)
      std::printf(" %.1f %.1f", stay.begin_s * 1e12, stay.end_s * 1e12);
    std::printf("\n");
  }
  MPI_Finalize();
}
