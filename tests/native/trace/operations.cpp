// Every operation of all ranks once, with sizes that tell them apart; argument 1 is "later" for
// those of MPI 4.
#include <mpi.h>

#include <array>
#include <vector>

namespace {

std::vector<int> in(1000);
std::vector<int> out(1000);
std::vector<int> counts;
std::vector<int> places;

void blocking(int rank, int size) {
  MPI_Comm all = MPI_COMM_WORLD;
  MPI_Bcast(in.data(), 1, MPI_INT, 0, all);
  MPI_Reduce(in.data(), out.data(), 2, MPI_INT, MPI_SUM, size - 1, all);
  MPI_Allreduce(in.data(), out.data(), 3, MPI_INT, MPI_SUM, all);
  MPI_Scan(in.data(), out.data(), 4, MPI_INT, MPI_SUM, all);
  MPI_Exscan(in.data(), out.data(), 5, MPI_INT, MPI_SUM, all);
  MPI_Reduce_scatter(in.data(), out.data(), counts.data(), MPI_INT, MPI_SUM, all);
  MPI_Reduce_scatter_block(in.data(), out.data(), 6, MPI_INT, MPI_SUM, all);
  MPI_Gather(in.data(), 7, MPI_INT, out.data(), 7, MPI_INT, 1, all);
  MPI_Gatherv(in.data(), counts[static_cast<std::size_t>(rank)], MPI_INT, out.data(), counts.data(),
              places.data(), MPI_INT, 0, all);
  MPI_Scatter(in.data(), 8, MPI_INT, out.data(), 8, MPI_INT, 1, all);
  MPI_Scatterv(in.data(), counts.data(), places.data(), MPI_INT, out.data(),
               counts[static_cast<std::size_t>(rank)], MPI_INT, 0, all);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out.data(), 9, MPI_INT, all);
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out.data(), counts.data(), places.data(),
                 MPI_INT, all);
  MPI_Alltoall(in.data(), 10, MPI_INT, out.data(), 10, MPI_INT, all);
  std::vector<int> ones(static_cast<std::size_t>(size), 11);
  std::vector<int> apart;
  for (int at = 0; at < size; ++at) apart.push_back(11 * at);
  MPI_Alltoallv(in.data(), ones.data(), apart.data(), MPI_INT, out.data(), ones.data(),
                apart.data(), MPI_INT, all);
  std::vector<MPI_Datatype> types(static_cast<std::size_t>(size), MPI_CHAR);
  MPI_Alltoallw(in.data(), ones.data(), apart.data(), types.data(), out.data(), ones.data(),
                apart.data(), types.data(), all);
}

void begun(int size) {
  std::array<MPI_Request, 3> requests{};
  MPI_Comm all = MPI_COMM_WORLD;
  MPI_Ibarrier(all, &requests[0]);
  MPI_Ibcast(in.data(), 12, MPI_INT, size - 1, all, &requests[1]);
  MPI_Ireduce(in.data(), out.data(), 13, MPI_INT, MPI_SUM, 0, all, &requests[2]);
  MPI_Waitall(3, requests.data(), MPI_STATUSES_IGNORE);
  MPI_Ialltoall(in.data(), 14, MPI_INT, out.data(), 14, MPI_INT, all, &requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

void neighbours(int size) {
  MPI_Comm line = MPI_COMM_NULL;
  int around = 1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &around, 0, &line);
  MPI_Neighbor_allgather(in.data(), 15, MPI_INT, out.data(), 15, MPI_INT, line);
  MPI_Neighbor_alltoall(in.data(), 16, MPI_INT, out.data(), 16, MPI_INT, line);
  MPI_Comm_free(&line);
}

void accesses(int rank, int size) {
  std::vector<int> shared(100);
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_create(shared.data(), 400, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  const int right = (rank + 1) % size;
  MPI_Win_fence(0, window);
  MPI_Put(in.data(), 17, MPI_INT, right, 0, 17, MPI_INT, window);
  MPI_Win_fence(0, window);
  MPI_Get(out.data(), 18, MPI_INT, right, 0, 18, MPI_INT, window);
  MPI_Win_fence(0, window);
  MPI_Accumulate(in.data(), 19, MPI_INT, right, 0, 19, MPI_INT, MPI_SUM, window);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
}

#if MPI_VERSION >= 4
void later(int rank, int size) {
  MPI_Comm all = MPI_COMM_WORLD;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Allreduce_init(in.data(), out.data(), 20, MPI_INT, MPI_SUM, all, MPI_INFO_NULL, &request);
  for (int time = 0; time < 3; ++time) {
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&request);
  MPI_Bcast_c(in.data(), 21, MPI_INT, 0, all);
  MPI_Sendrecv_c(in.data(), 22, MPI_INT, (rank + 1) % size, 0, out.data(), 30, MPI_INT,
                 (rank + size - 1) % size, 0, all, MPI_STATUS_IGNORE);
  MPI_Isendrecv(in.data(), 23, MPI_INT, (rank + 1) % size, 0, out.data(), 30, MPI_INT,
                MPI_ANY_SOURCE, 0, all, &request);
  int flag = 0;
  while (flag == 0) MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Barrier_init(all, MPI_INFO_NULL, &request);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
}
#else
void later(int /*unused*/, int /*unused*/) {}
#endif

}  // namespace

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int at = 0; at < size; ++at) {
    counts.push_back(at + 1);
    places.push_back(at * (at + 1) / 2);
  }
  blocking(rank, size);
  begun(size);
  neighbours(size);
  accesses(rank, size);
  if (count > 1) later(rank, size);
  MPI_Finalize();
}
