// Ways of ranks to reach each other, each by its name, three times: libraries may set up the first
// time what they use then. Without arguments all of them; after the words `messages` and `windows`
// all of that kind.
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
/// Rank 0 has parts for the others only.
void scatterv(Here& on) {
  auto counts = on.counts;
  counts[0] = 0;
  MPI_Scatterv(on.in.data(), counts.data(), on.places.data(), MPI_DOUBLE, on.out.data(),
               on.rank == 0 ? 0 : numbers, MPI_DOUBLE, 0, on.comm);
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
/// The same with a type for each; those of parts that are empty are none.
void alltoallw(Here& on) {
  const auto size = static_cast<std::size_t>(on.ranks);
  for (const auto* counts : {&on.counts, &on.zeros}) {
    const std::vector<MPI_Datatype> types(size, counts == &on.zeros ? MPI_BYTE : MPI_DOUBLE);
    std::vector<int> places;
    for (const int place : on.places) places.push_back(8 * place);
    MPI_Alltoallw(on.in.data(), counts->data(), places.data(), types.data(), on.out.data(),
                  counts->data(), places.data(), types.data(), on.comm);
  }
}
/// Sums of which each rank gets another part, rank 0 nothing.
void reduce_scatter_parts(Here& on) {
  auto counts = on.counts;
  counts[0] = 0;
  MPI_Reduce_scatter(on.in.data(), on.out.data(), counts.data(), MPI_DOUBLE, MPI_SUM, on.comm);
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
/// A barrier that is completed by each of the calls for many requests.
void waitany(Here& on) {
  std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int index = 0;
  MPI_Ibarrier(on.comm, &requests[1]);
  MPI_Waitany(2, requests.data(), &index, MPI_STATUS_IGNORE);
  // Once more, where none is active.
  MPI_Waitany(2, requests.data(), &index, MPI_STATUS_IGNORE);
}
void waitsome(Here& on) {
  std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  std::array<int, 2> indices{};
  int done = 0;
  MPI_Ibarrier(on.comm, &requests[1]);
  MPI_Waitsome(2, requests.data(), &done, indices.data(), MPI_STATUSES_IGNORE);
  MPI_Waitsome(2, requests.data(), &done, indices.data(), MPI_STATUSES_IGNORE);
}
void testany(Here& on) {
  std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int index = 0;
  int is_over = 0;
  MPI_Ibarrier(on.comm, &requests[1]);
  while (is_over == 0) MPI_Testany(2, requests.data(), &index, &is_over, MPI_STATUS_IGNORE);
  MPI_Testany(2, requests.data(), &index, &is_over, MPI_STATUS_IGNORE);
}
void testsome(Here& on) {
  std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  std::array<int, 2> indices{};
  int done = 0;
  MPI_Ibarrier(on.comm, &requests[1]);
  while (done == 0) MPI_Testsome(2, requests.data(), &done, indices.data(), MPI_STATUSES_IGNORE);
  MPI_Testsome(2, requests.data(), &done, indices.data(), MPI_STATUSES_IGNORE);
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
/// Both neighbours on a ring, of which two ranks are twice the same, by each way to say so.
MPI_Comm ring_of(Here& on, int way) {
  MPI_Comm ring;
  const int closed = 1;
  const std::array<int, 2> next{on.last(), on.next()};
  if (way == 0) {
    MPI_Cart_create(on.comm, 1, &on.ranks, &closed, 0, &ring);
  } else if (way == 1) {
    MPI_Dist_graph_create_adjacent(on.comm, 2, next.data(), next.data(), 2, next.data(),
                                   next.data(), MPI_INFO_NULL, 0, &ring);
  } else {
    std::vector<int> ends, edges;
    for (int rank = 0; rank < on.ranks; ++rank) {
      edges.push_back((rank + on.ranks - 1) % on.ranks);
      edges.push_back((rank + 1) % on.ranks);
      ends.push_back(2 * rank + 2);
    }
    MPI_Graph_create(on.comm, on.ranks, ends.data(), edges.data(), 0, &ring);
  }
  return ring;
}
/// What ranks on a ring send each other fits twice into the room of at least two ranks.
void neighbour_allgather(Here& on) {
  for (int way = 0; way < 3; ++way) {
    MPI_Comm ring = ring_of(on, way);
    std::vector<double> out(2 * numbers);
    MPI_Neighbor_allgather(on.in.data(), numbers, MPI_DOUBLE, out.data(), numbers, MPI_DOUBLE,
                           ring);
    MPI_Comm_free(&ring);
  }
}
void neighbour_alltoall(Here& on) {
  MPI_Comm ring = ring_of(on, 1);
  std::vector<double> in(2 * numbers), out(2 * numbers);
  MPI_Neighbor_alltoall(in.data(), numbers, MPI_DOUBLE, out.data(), numbers, MPI_DOUBLE, ring);
  MPI_Comm_free(&ring);
}
/// Only to the next one, and nothing to anyone.
void neighbour_alltoallv(Here& on) {
  MPI_Comm ring = ring_of(on, 0);
  std::vector<double> in(2 * numbers), out(2 * numbers);
  const std::array<int, 2> to{0, numbers}, from{numbers, 0}, none{}, places{0, numbers};
  const std::array<MPI_Aint, 2> byte_places{0, 8 * numbers};
  const std::array<MPI_Datatype, 2> types{MPI_DOUBLE, MPI_DOUBLE};
  MPI_Neighbor_alltoallv(in.data(), to.data(), places.data(), MPI_DOUBLE, out.data(), from.data(),
                         places.data(), MPI_DOUBLE, ring);
  MPI_Neighbor_alltoallv(in.data(), none.data(), places.data(), MPI_DOUBLE, out.data(), none.data(),
                         places.data(), MPI_DOUBLE, ring);
  MPI_Neighbor_alltoallw(in.data(), to.data(), byte_places.data(), types.data(), out.data(),
                         from.data(), byte_places.data(), types.data(), ring);
  MPI_Comm_free(&ring);
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
/// Even ranks and odd ones as two groups, of which a root sends, or gets, or neither.
class Between {
 public:
  explicit Between(const Here& on) {
    MPI_Comm_split(on.comm, on.rank % 2, on.rank, &half_);
    MPI_Intercomm_create(half_, 0, on.comm, 1 - on.rank % 2, 1, &both);
    MPI_Comm_remote_size(both, &partners);
    root = on.rank == 0 ? MPI_ROOT : on.rank % 2 == 0 ? MPI_PROC_NULL : 0;
  }
  ~Between() {
    MPI_Comm_free(&both);
    MPI_Comm_free(&half_);
  }
  Between(const Between&) = delete;
  Between& operator=(const Between&) = delete;

  MPI_Comm both = MPI_COMM_NULL;
  int partners = 0;
  int root = 0;

 private:
  MPI_Comm half_ = MPI_COMM_NULL;
};
void barrier_between(Here& on) {
  if (on.ranks < 2) return;
  Between groups(on);
  MPI_Barrier(groups.both);
  MPI_Request request;
  MPI_Ibarrier(groups.both, &request);
  complete(request);
}
void allreduce_between(Here& on) {
  if (on.ranks < 2) return;
  Between groups(on);
  MPI_Allreduce(on.in.data(), on.out.data(), numbers, MPI_DOUBLE, MPI_SUM, groups.both);
}
void bcast_between(Here& on) {
  if (on.ranks < 2) return;
  Between groups(on);
  MPI_Bcast(on.in.data(), numbers, MPI_DOUBLE, groups.root, groups.both);
}
/// Arguments that mean nothing on a rank are none.
void rooted_between(Here& on) {
  if (on.ranks < 2) return;
  Between groups(on);
  const bool is_root = groups.root == MPI_ROOT;
  const int own = is_root ? 0 : numbers;
  const int of_root = is_root ? numbers : 0;
  const auto own_type = is_root ? MPI_DATATYPE_NULL : MPI_DOUBLE;
  const auto root_type = is_root ? MPI_DOUBLE : MPI_DATATYPE_NULL;
  MPI_Gather(on.in.data(), own, own_type, on.out.data(), of_root, root_type, groups.root,
             groups.both);
  MPI_Scatter(on.in.data(), of_root, root_type, on.out.data(), own, own_type, groups.root,
              groups.both);
  MPI_Reduce(on.in.data(), on.out.data(), numbers, MPI_DOUBLE, MPI_SUM, groups.root, groups.both);
}
/// The first group gives, the second one takes.
void allgather_between(Here& on) {
  if (on.ranks < 2) return;
  Between groups(on);
  const int given = on.rank % 2 == 0 ? numbers : 0;
  MPI_Allgather(on.in.data(), given, MPI_DOUBLE, on.out.data(), numbers - given, MPI_DOUBLE,
                groups.both);
  MPI_Alltoall(on.in.data(), given, MPI_DOUBLE, on.out.data(), numbers - given, MPI_DOUBLE,
               groups.both);
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

/// Memory of all ranks, of which each reaches the next one's.
class Window {
 public:
  explicit Window(Here& on) {
    const auto size = static_cast<MPI_Aint>(8 * on.out.size());
    MPI_Win_create(on.out.data(), size, 8, MPI_INFO_NULL, on.comm, &handle);
  }
  ~Window() { MPI_Win_free(&handle); }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  MPI_Win handle = MPI_WIN_NULL;
};
void put(Here& on) {
  Window window(on);
  MPI_Win_fence(0, window.handle);
  MPI_Put(on.in.data(), numbers, MPI_DOUBLE, on.next(), 0, numbers, MPI_DOUBLE, window.handle);
  MPI_Put(on.in.data(), 0, MPI_DOUBLE, on.next(), 0, 0, MPI_DOUBLE, window.handle);
  MPI_Put(on.in.data(), 1, MPI_DOUBLE, MPI_PROC_NULL, 0, 1, MPI_DOUBLE, window.handle);
  MPI_Win_fence(0, window.handle);
}
void get(Here& on) {
  Window window(on);
  MPI_Win_lock(MPI_LOCK_SHARED, on.next(), 0, window.handle);
  MPI_Get(on.in.data(), numbers, MPI_DOUBLE, on.next(), 0, numbers, MPI_DOUBLE, window.handle);
  MPI_Win_unlock(on.next(), window.handle);
}
void accumulate(Here& on) {
  Window window(on);
  MPI_Win_lock_all(0, window.handle);
  MPI_Accumulate(on.in.data(), numbers, MPI_DOUBLE, on.next(), 0, numbers, MPI_DOUBLE, MPI_SUM,
                 window.handle);
  MPI_Win_flush(on.next(), window.handle);
  MPI_Win_unlock_all(window.handle);
}
/// Of this rank and the next one, of which a rank alone is both.
void several_targets(Here& on) {
  Window window(on);
  MPI_Win_lock_all(0, window.handle);
  for (const int to : {on.rank, on.next(), on.last()})
    MPI_Put(on.in.data(), numbers, MPI_DOUBLE, to, numbers * 0, numbers, MPI_DOUBLE, window.handle);
  MPI_Win_flush(on.next(), window.handle);
  MPI_Win_flush_all(window.handle);
  MPI_Win_unlock_all(window.handle);
}
/// What is there comes, and stays.
void fetch(Here& on) {
  Window window(on);
  MPI_Win_lock(MPI_LOCK_SHARED, on.next(), 0, window.handle);
  MPI_Get_accumulate(nullptr, 0, MPI_DOUBLE, on.in.data(), numbers, MPI_DOUBLE, on.next(), 0,
                     numbers, MPI_DOUBLE, MPI_NO_OP, window.handle);
  MPI_Win_unlock(on.next(), window.handle);
}

struct Way {
  std::string_view name;
  void (*go)(Here&);
};
constexpr std::array messages{Way{"barrier", barrier},
                              Way{"bcast", bcast},
                              Way{"reduce", reduce},
                              Way{"allreduce", allreduce},
                              Way{"gather", gather},
                              Way{"scatter", scatter},
                              Way{"scatterv", scatterv},
                              Way{"allgather", allgather},
                              Way{"alltoall", alltoall},
                              Way{"scan", scan},
                              Way{"reduce_scatter", reduce_scatter},
                              Way{"reduce_scatter_parts", reduce_scatter_parts},
                              Way{"alltoallv", alltoallv},
                              Way{"alltoallw", alltoallw},
                              Way{"gatherv", gatherv},
                              Way{"nothing", nothing},
                              Way{"ibarrier", ibarrier},
                              Way{"ibcast", ibcast},
                              Way{"iallreduce", iallreduce},
                              Way{"waitany", waitany},
                              Way{"waitsome", waitsome},
                              Way{"testany", testany},
                              Way{"testsome", testsome},
                              Way{"barrier_init", barrier_init},
                              Way{"allreduce_init", allreduce_init},
                              Way{"neighbours", neighbours},
                              Way{"lonely_neighbours", lonely_neighbours},
                              Way{"neighbour_allgather", neighbour_allgather},
                              Way{"neighbour_alltoall", neighbour_alltoall},
                              Way{"neighbour_alltoallv", neighbour_alltoallv},
                              Way{"part", part},
                              Way{"self", self},
                              Way{"barrier_between", barrier_between},
                              Way{"allreduce_between", allreduce_between},
                              Way{"bcast_between", bcast_between},
                              Way{"rooted_between", rooted_between},
                              Way{"allgather_between", allgather_between},
                              Way{"send", send},
                              Way{"empty_send", empty_send},
                              Way{"isend", isend},
                              Way{"send_init", send_init}};
constexpr std::array windows{Way{"put", put}, Way{"get", get}, Way{"accumulate", accumulate},
                             Way{"several_targets", several_targets}, Way{"fetch", fetch}};

template <class Ways>
void go_all(const Ways& ways, std::string_view kind, std::string_view chosen, Here& here) {
  for (const auto& [name, go] : ways)
    if (chosen.empty() || chosen == kind || chosen == name)
      for (int time = 0; time < 3; ++time) go(here);
}

}  // namespace

int main(int count, char** words) {
  MPI_Init(&count, &words);
  Here here(MPI_COMM_WORLD);
  const std::string_view chosen = count > 1 ? words[1] : "";
  go_all(messages, "messages", chosen, here);
  go_all(windows, "windows", chosen, here);
  if (here.rank == 0) std::puts("done");
  MPI_Finalize();
}
