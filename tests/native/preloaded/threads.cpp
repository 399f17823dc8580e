// Threads that use MPI at the same time, each on communicators of its own: `threads FILE`. The
// first rank writes how many results were wrong.
#include <mpi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

std::atomic<int> wrong{0};

void expect(bool is_right) {
  if (!is_right) ++wrong;
}

/// Collective operations and messages on one communicator, data in every second item.
void use(MPI_Comm comm, int number) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  MPI_Datatype strided = MPI_DATATYPE_NULL;
  MPI_Type_vector(50, 1, 2, MPI_INT, &strided);
  MPI_Type_commit(&strided);
  for (int turn = 0; turn < 10; ++turn) {
    const int root = turn % ranks;
    std::vector<int> items(100, rank == root ? number + turn : -1);
    MPI_Bcast(items.data(), 1, strided, root, comm);
    expect(items[98] == number + turn && (rank == root || items[99] == -1));
    const int own = rank + number;
    int sum = 0;
    MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm);
    expect(sum == ranks * (ranks - 1) / 2 + ranks * number);
    std::vector<int> all(static_cast<std::size_t>(ranks));
    MPI_Allgather(&own, 1, MPI_INT, all.data(), 1, MPI_INT, comm);
    expect(all.front() == number && all.back() == ranks - 1 + number);
    std::array<char, 64> data{};
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(data.data(), 32, MPI_CHAR, MPI_ANY_SOURCE, turn, comm, &request);
    MPI_Send(data.data() + 32, 32, MPI_CHAR, (rank + 1) % ranks, turn, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(comm);
  }
  MPI_Type_free(&strided);
}

}  // namespace

int main(int words, char** word) {
  int provided = 0;
  MPI_Init_thread(&words, &word, MPI_THREAD_MULTIPLE, &provided);
  const int count = provided == MPI_THREAD_MULTIPLE ? 3 : 1;
  std::array<MPI_Comm, 3> bases{};
  for (auto& base : bases) MPI_Comm_dup(MPI_COMM_WORLD, &base);
  std::vector<std::thread> threads;
  for (int number = 0; number < count; ++number)
    threads.emplace_back([base = bases[static_cast<std::size_t>(number)], number] {
      for (int turn = 0; turn < 3; ++turn) {
        MPI_Comm own = MPI_COMM_NULL;
        MPI_Comm_dup(base, &own);
        use(own, number);
        MPI_Comm_free(&own);
      }
    });
  for (auto& thread : threads) thread.join();
  for (auto& base : bases) MPI_Comm_free(&base);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    std::FILE* file = std::fopen(word[1], "w");
    std::fprintf(file, "wrong %d\n", wrong.load());
    std::fclose(file);
  }
  MPI_Finalize();
  return wrong > 0 ? 1 : 0;
}
