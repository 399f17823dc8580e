// Programs of large operations and little else: training, sharded training, transposes, a centre,
// training that overlaps sums with computing.
#include <mpi.h>

#include <array>
#include <chrono>
#include <string_view>
#include <thread>
#include <vector>

namespace {

int ranks = 0;
std::vector<char> given(std::size_t{8} << 20), got(std::size_t{8} << 20);

void allreduce(int bytes) {
  MPI_Allreduce(given.data(), got.data(), bytes / 4, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

void train() {
  for (int step = 0; step < 3; ++step)
    for (const int bytes : {4 << 20, 1 << 20, 256 << 10, 4}) allreduce(bytes);
}

/// Buckets are summed in place while the next ones are computed.
void overlap() {
  constexpr std::array buckets{256 << 10, 4 << 20, 1 << 20};
  std::array<MPI_Request, buckets.size()> sums{};
  for (int step = 0; step < 3; ++step) {
    char* bucket = given.data();
    for (std::size_t at = 0; at < buckets.size(); bucket += buckets[at++]) {
      std::this_thread::sleep_for(std::chrono::microseconds(1500));
      MPI_Iallreduce(MPI_IN_PLACE, bucket, buckets[at] / 4, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD,
                     &sums[at]);
    }
    MPI_Waitall(static_cast<int>(sums.size()), sums.data(), MPI_STATUSES_IGNORE);
  }
}

void shard() {
  for (int step = 0; step < 3; ++step)
    for (const int bytes : {2 << 20, 512 << 10}) {
      MPI_Allgather(given.data(), bytes / ranks, MPI_BYTE, got.data(), bytes / ranks, MPI_BYTE,
                    MPI_COMM_WORLD);
      MPI_Reduce_scatter_block(got.data(), given.data(), bytes / ranks / 4, MPI_FLOAT, MPI_SUM,
                               MPI_COMM_WORLD);
    }
}

void transpose() {
  for (int step = 0; step < 5; ++step) {
    for (const int bytes : {1 << 20, 256 << 10})
      MPI_Alltoall(given.data(), bytes / ranks, MPI_BYTE, got.data(), bytes / ranks, MPI_BYTE,
                   MPI_COMM_WORLD);
    allreduce(8);
  }
}

void centre() {
  for (int step = 0; step < 4; ++step) {
    MPI_Bcast(given.data(), 1 << 20, MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Gather(given.data(), 128 << 10, MPI_BYTE, got.data(), 128 << 10, MPI_BYTE, 0,
               MPI_COMM_WORLD);
  }
}

}  // namespace

int main(int count, char** words) {
  MPI_Init(&count, &words);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::string_view which = words[1];
  if (which == "train") train();
  if (which == "overlap") overlap();
  if (which == "shard") shard();
  if (which == "transpose") transpose();
  if (which == "centre") centre();
  MPI_Finalize();
}
