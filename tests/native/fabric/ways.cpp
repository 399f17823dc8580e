// SPDX-License-Identifier: Apache-2.0
// Ways of ranks to reach each other, each by its name, three times: libraries may set up the first
// time what they use then. Without arguments all of them.
#include <mpi.h>

#include <array>
#include <cstdio>
#include <string_view>
#include <vector>

namespace {

constexpr int numbers = 1000;

/// The ranks, and room for what each sends to all.
struct Here {
  explicit Here(MPI_Comm all) : comm(all) {
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    const auto all_numbers = static_cast<std::size_t>(numbers * ranks);
    in.assign(all_numbers, rank);
    out.assign(all_numbers, -1);
    counts.assign(static_cast<std::size_t>(ranks), numbers);
    zeros.assign(static_cast<std::size_t>(ranks), 0);
    for (int other = 0; other < ranks; ++other) places.push_back(numbers * other);
  }
  [[nodiscard]] int next() const { return (rank + 1) % ranks; }
  [[nodiscard]] int last() const { return (rank + ranks - 1) % ranks; }

  MPI_Comm comm;
  int rank = 0;
  int ranks = 0;
  std::vector<double> in, out;
  std::vector<int> counts, zeros, places;
};

void complete(MPI_Request request) {
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
/// Runs a persistent operation, and again with a test.
void repeat(MPI_Request request) {
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Startall(1, &request);
  int is_over = 0;
  while (is_over == 0) MPI_Test(&request, &is_over, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
}

void barrier(Here& on) {
  MPI_Barrier(on.comm);
}
void bcast(Here& on) {
  MPI_Bcast(on.in.data(), numbers, MPI_DOUBLE, 0, on.comm);
}
void reduce(Here& on) {
  MPI_Reduce(on.in.data(), on.out.data(), numbers, MPI_DOUBLE, MPI_SUM, 0, on.comm);
}
void allreduce(Here& on) {
  MPI_Allreduce(on.in.data(), on.out.data(), numbers, MPI_DOUBLE, MPI_SUM, on.comm);
}
void gather(Here& on) {
  MPI_Gather(on.in.data(), numbers, MPI_DOUBLE, on.out.data(), numbers, MPI_DOUBLE, 0, on.comm);
}
void scatter(Here& on) {
  MPI_Scatter(on.in.data(), numbers, MPI_DOUBLE, on.out.data(), numbers, MPI_DOUBLE, 0, on.comm);
}
void allgather(Here& on) {
  MPI_Allgather(on.in.data(), numbers, MPI_DOUBLE, on.out.data(), numbers, MPI_DOUBLE, on.comm);
}
void alltoall(Here& on) {
  MPI_Alltoall(on.in.data(), numbers, MPI_DOUBLE, on.out.data(), numbers, MPI_DOUBLE, on.comm);
}
void scan(Here& on) {
  MPI_Scan(on.in.data(), on.out.data(), numbers, MPI_DOUBLE, MPI_SUM, on.comm);
  MPI_Exscan(on.in.data(), on.out.data(), numbers, MPI_DOUBLE, MPI_SUM, on.comm);
}
void reduce_scatter(Here& on) {
  MPI_Reduce_scatter_block(on.in.data(), on.out.data(), numbers, MPI_DOUBLE, MPI_SUM, on.comm);
}
/// Amounts that differ: everything, nothing, and only what rank 0 has.
void alltoallv(Here& on) {
  for (const auto* counts : {&on.counts, &on.zeros})
    MPI_Alltoallv(on.in.data(), counts->data(), on.places.data(), MPI_DOUBLE, on.out.data(),
                  counts->data(), on.places.data(), MPI_DOUBLE, on.comm);
}
void gatherv(Here& on) {
  auto counts = on.zeros;
  counts[0] = numbers;
  MPI_Gatherv(on.in.data(), on.rank == 0 ? numbers : 0, MPI_DOUBLE, on.out.data(), counts.data(),
              on.places.data(), MPI_DOUBLE, 0, on.comm);
  MPI_Allgatherv(on.in.data(), on.rank == 0 ? numbers : 0, MPI_DOUBLE, on.out.data(), counts.data(),
                 on.places.data(), MPI_DOUBLE, on.comm);
}
/// Nothing at all, by operations that usually carry something.
void nothing(Here& on) {
  MPI_Bcast(nullptr, 0, MPI_DOUBLE, 0, on.comm);
  MPI_Allreduce(on.in.data(), on.out.data(), 0, MPI_DOUBLE, MPI_SUM, on.comm);
  MPI_Alltoall(nullptr, 0, MPI_DOUBLE, nullptr, 0, MPI_DOUBLE, on.comm);
  MPI_Send(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 1, on.comm);
}

void ibarrier(Here& on) {
  MPI_Request request;
  MPI_Ibarrier(on.comm, &request);
  complete(request);
}
void ibcast(Here& on) {
  MPI_Request request;
  MPI_Ibcast(on.in.data(), numbers, MPI_DOUBLE, 0, on.comm, &request);
  complete(request);
}
void iallreduce(Here& on) {
  std::array<MPI_Request, 2> requests;
  MPI_Iallreduce(on.in.data(), on.out.data(), numbers, MPI_DOUBLE, MPI_SUM, on.comm, &requests[0]);
  MPI_Ibarrier(on.comm, &requests[1]);
  MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
}
void barrier_init(Here& on) {
  MPI_Request request;
  MPI_Barrier_init(on.comm, MPI_INFO_NULL, &request);
  repeat(request);
}
void allreduce_init(Here& on) {
  MPI_Request request;
  MPI_Allreduce_init(on.in.data(), on.out.data(), numbers, MPI_DOUBLE, MPI_SUM, on.comm,
                     MPI_INFO_NULL, &request);
  repeat(request);
}

/// A line of ranks, whose ends have one neighbour, and graphs in which only rank 0 has any: itself.
void neighbours(Here& on) {
  MPI_Comm line;
  const int open = 0;
  MPI_Cart_create(on.comm, 1, &on.ranks, &open, 0, &line);
  MPI_Neighbor_allgather(on.in.data(), 1, MPI_DOUBLE, on.out.data(), 1, MPI_DOUBLE, line);
  MPI_Neighbor_alltoall(on.in.data(), 1, MPI_DOUBLE, on.out.data(), 1, MPI_DOUBLE, line);
  MPI_Comm_free(&line);
}
void lonely_neighbours(Here& on) {
  MPI_Comm graph;
  const int self = 0;
  const int degree = on.rank == 0 ? 1 : 0;
  MPI_Dist_graph_create_adjacent(on.comm, degree, &self, MPI_UNWEIGHTED, degree, &self,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  MPI_Neighbor_allgather(on.in.data(), 1, MPI_DOUBLE, on.out.data(), 1, MPI_DOUBLE, graph);
  MPI_Request request;
  MPI_Ineighbor_allgather(on.in.data(), 1, MPI_DOUBLE, on.out.data(), 1, MPI_DOUBLE, graph,
                          &request);
  complete(request);
  MPI_Comm_free(&graph);
}

void part(Here& on) {
  MPI_Comm half;
  MPI_Comm_split(on.comm, on.rank % 2, on.rank, &half);
  MPI_Allreduce(on.in.data(), on.out.data(), numbers, MPI_DOUBLE, MPI_SUM, half);
  MPI_Barrier(half);
  MPI_Comm_free(&half);
}
void self(Here& on) {
  MPI_Barrier(MPI_COMM_SELF);
  MPI_Allreduce(on.in.data(), on.out.data(), numbers, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
  MPI_Sendrecv(on.in.data(), 1, MPI_DOUBLE, on.rank, 1, on.out.data(), 1, MPI_DOUBLE, on.rank, 1,
               on.comm, MPI_STATUS_IGNORE);
  Here alone(MPI_COMM_SELF);
  ibarrier(alone);
}
/// Even ranks and odd ones as two groups.
void between(Here& on) {
  if (on.ranks < 2) return;
  MPI_Comm half;
  MPI_Comm both;
  MPI_Comm_split(on.comm, on.rank % 2, on.rank, &half);
  MPI_Intercomm_create(half, 0, on.comm, 1 - on.rank % 2, 1, &both);
  MPI_Barrier(both);
  MPI_Allreduce(on.in.data(), on.out.data(), 1, MPI_DOUBLE, MPI_SUM, both);
  const int root = on.rank == 0 ? MPI_ROOT : on.rank % 2 == 0 ? MPI_PROC_NULL : 0;
  MPI_Bcast(on.in.data(), 1, MPI_DOUBLE, root, both);
  MPI_Request request;
  MPI_Ibarrier(both, &request);
  complete(request);
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

void send(Here& on) {
  MPI_Sendrecv(on.in.data(), numbers, MPI_DOUBLE, on.next(), 1, on.out.data(), numbers, MPI_DOUBLE,
               on.last(), 1, on.comm, MPI_STATUS_IGNORE);
}
void empty_send(Here& on) {
  MPI_Sendrecv(nullptr, 0, MPI_BYTE, on.next(), 1, nullptr, 0, MPI_BYTE, on.last(), 1, on.comm,
               MPI_STATUS_IGNORE);
}
void isend(Here& on) {
  std::array<MPI_Request, 2> requests;
  MPI_Irecv(on.out.data(), numbers, MPI_DOUBLE, on.last(), 1, on.comm, &requests[0]);
  MPI_Isend(on.in.data(), numbers, MPI_DOUBLE, on.next(), 1, on.comm, &requests[1]);
  MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
}
void send_init(Here& on) {
  std::array<MPI_Request, 2> requests;
  MPI_Recv_init(on.out.data(), numbers, MPI_DOUBLE, on.last(), 1, on.comm, &requests[0]);
  MPI_Send_init(on.in.data(), numbers, MPI_DOUBLE, on.next(), 1, on.comm, &requests[1]);
  for (int time = 0; time < 2; ++time) {
    MPI_Startall(2, requests.data());
    MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
  }
  for (auto& request : requests) MPI_Request_free(&request);
}

struct Way {
  std::string_view name;
  void (*go)(Here&);
};
constexpr std::array ways{Way{"barrier", barrier},
                          Way{"bcast", bcast},
                          Way{"reduce", reduce},
                          Way{"allreduce", allreduce},
                          Way{"gather", gather},
                          Way{"scatter", scatter},
                          Way{"allgather", allgather},
                          Way{"alltoall", alltoall},
                          Way{"scan", scan},
                          Way{"reduce_scatter", reduce_scatter},
                          Way{"alltoallv", alltoallv},
                          Way{"gatherv", gatherv},
                          Way{"nothing", nothing},
                          Way{"ibarrier", ibarrier},
                          Way{"ibcast", ibcast},
                          Way{"iallreduce", iallreduce},
                          Way{"barrier_init", barrier_init},
                          Way{"allreduce_init", allreduce_init},
                          Way{"neighbours", neighbours},
                          Way{"lonely_neighbours", lonely_neighbours},
                          Way{"part", part},
                          Way{"self", self},
                          Way{"between", between},
                          Way{"send", send},
                          Way{"empty_send", empty_send},
                          Way{"isend", isend},
                          Way{"send_init", send_init}};

}  // namespace

int main(int count, char** words) {
  MPI_Init(&count, &words);
  Here here(MPI_COMM_WORLD);
  for (const auto& [name, go] : ways)
    if (count < 2 || name == words[1])
      for (int time = 0; time < 3; ++time) go(here);
  if (here.rank == 0) std::puts("done");
  MPI_Finalize();
}
