// An unchanged MPI program that does what routed collectives might trip over. Exit 1 where
// something is wrong; a deadlock is for whoever starts it to end. With an argument no call is
// wrong: Intel MPI 2021.19 ends programs of the standard ABI that make one, whatever they ask for.
#include <mpi.h>
#include <sys/resource.h>

#include <cstdio>
#include <thread>
#include <vector>

namespace {

int failures = 0;
int rank = 0, size = 1;

void check(bool holds, const char* what) {
  if (holds) return;
  ++failures;
  std::fprintf(stderr, "rank %d of %d: %s\n", rank, size, what);
}

/// A rank is in a collective while its peer is in a send that it must take first.
void messages_during_collectives() {
  if (size < 2) return;
  std::vector<char> large(1 << 24, static_cast<char>(rank));
  for (int round = 0; round < 4; ++round) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == 0) MPI_Irecv(large.data(), 1 << 24, MPI_CHAR, 1, round, MPI_COMM_WORLD, &request);
    if (rank == 1) MPI_Send(large.data(), 1 << 24, MPI_CHAR, 0, round, MPI_COMM_WORLD);
    int value = rank;
    if (round == 0) MPI_Barrier(MPI_COMM_WORLD);
    if (round == 1) MPI_Bcast(&value, 1, MPI_INT, 1, MPI_COMM_WORLD);
    if (round == 2) MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (round == 1) check(value == 1, "broadcast after a large message");
    if (round == 2) check(value == size * (size - 1) / 2, "sum after a large message");
    if (rank == 0) check(large.back() == 1, "large message");
  }
}

void two_groups() {
  if (size < 2) return;
  const int side = rank % 2;
  MPI_Comm own, between;
  MPI_Comm_split(MPI_COMM_WORLD, side, 0, &own);
  MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, 1 - side, 7, &between);
  MPI_Barrier(between);
  int value = rank == 0 ? 42 : 0;
  const int root = rank == 0 ? MPI_ROOT : side == 0 ? MPI_PROC_NULL : 0;
  MPI_Bcast(&value, 1, MPI_INT, root, between);
  if (side == 1) check(value == 42, "broadcast to the other group");
  int mine = 1, others = 0, there = 0;
  MPI_Allreduce(&mine, &others, 1, MPI_INT, MPI_SUM, between);
  MPI_Comm_remote_size(between, &there);
  check(others == there, "sum of the other group");
  MPI_Comm_free(&between);
  MPI_Comm_free(&own);
}

/// Handles come again; what was kept with them must not.
void many_communicators() {
  for (int i = 0; i < 200; ++i) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, rank % (1 + i % 3), i % 2 == 0 ? rank : -rank, &comm);
    int own = 0, members = 0, sum = 0, first = rank;
    MPI_Comm_rank(comm, &own);
    MPI_Comm_size(comm, &members);
    const int mine = own + 1;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
    check(sum == members * (members + 1) / 2, "sum on a communicator that comes and goes");
    MPI_Bcast(&first, 1, MPI_INT, 0, comm);
    if (own == 0) check(first == rank, "broadcast on a communicator that comes and goes");
    MPI_Comm_free(&comm);
  }
}

void errors_are_the_librarys() {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  double value = 0, result = 0;
  check(MPI_Bcast(&value, 1, MPI_DOUBLE, size, comm) != MPI_SUCCESS, "a root that is not there");
  check(MPI_Bcast(&value, -1, MPI_DOUBLE, 0, comm) != MPI_SUCCESS, "a negative count");
  check(MPI_Bcast(&value, 1, MPI_DATATYPE_NULL, 0, comm) != MPI_SUCCESS, "no type");
  check(MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, MPI_BAND, comm) != MPI_SUCCESS,
        "an operation that does not take the type");
  check(MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, MPI_OP_NULL, comm) != MPI_SUCCESS,
        "no operation");
  MPI_Comm_free(&comm);
}

/// What is wrong on one rank is told there, and the others wait for nothing.
void errors_of_one_rank() {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  [[maybe_unused]] double value = 0, result = 0;
  if (rank == 0)
    check(MPI_Bcast(&value, -1, MPI_DOUBLE, 0, comm) != MPI_SUCCESS, "a count of one rank only");
#if defined(OPEN_MPI)  // others read from there
  if (rank == 1)
    check(MPI_Reduce(MPI_IN_PLACE, &result, 1, MPI_DOUBLE, MPI_SUM, 0, comm) != MPI_SUCCESS,
          "in place where no root is");
#endif
  MPI_Barrier(comm);
  MPI_Comm_free(&comm);
}

#if !defined(OPEN_MPI)  // there such a handle points to nothing
/// A handle that was one, and is one again later.
void freed_communicators() {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const MPI_Comm freed = comm;
  MPI_Comm_free(&comm);
  if (rank == 0) check(MPI_Barrier(freed) != MPI_SUCCESS, "a communicator that is none any more");
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  int sum = 0;
  MPI_Barrier(comm);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  check(sum == size * (size - 1) / 2, "sum after an error");
  MPI_Comm_free(&comm);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}
#endif

/// Ranks that may not write files have no memory to share; whichever it is, all go without.
void small_files() {
  for (int poor = 0; poor < size; ++poor) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit small{4096, before.rlim_max};
    if (rank == poor) setrlimit(RLIMIT_FSIZE, &small);
    int sum = 0;
    MPI_Barrier(comm);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (rank == poor) setrlimit(RLIMIT_FSIZE, &before);
    check(sum == size * (size - 1) / 2, "sum where files are small");
    MPI_Comm_free(&comm);
  }
}

void at_the_bottom_of_memory() {
  int values[4] = {rank, -1, rank + 1, -1};
  MPI_Aint places[2];
  MPI_Get_address(&values[0], &places[0]);
  MPI_Get_address(&values[2], &places[1]);
  MPI_Datatype type;
  MPI_Type_create_hindexed_block(2, 1, places, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Bcast(MPI_BOTTOM, 1, type, 0, MPI_COMM_WORLD);
  MPI_Type_free(&type);
  check(values[0] == 0 && values[1] == -1 && values[2] == 1 && values[3] == -1,
        "broadcast from addresses");
}

void threads_on_their_own(int provided) {
  if (provided < MPI_THREAD_MULTIPLE) return;
  MPI_Comm comms[2];
  for (auto& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  int wrong[2] = {0, 0};
  const auto work = [&](int which) {
    for (int i = 0; i < 300; ++i) {
      int sum = 0;
      MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, comms[which]);
      if (sum != i * size) ++wrong[which];
      if (i % 3 == which) MPI_Barrier(comms[which]);
    }
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  check(wrong[0] == 0 && wrong[1] == 0, "sums of two threads");
  for (auto& comm : comms) MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const bool tries_errors = argc < 2;
  messages_during_collectives();
  two_groups();
  many_communicators();
  if (tries_errors) {
    errors_are_the_librarys();
    errors_of_one_rank();
#if !defined(OPEN_MPI)
    freed_communicators();
#endif
  }
  small_files();
  at_the_bottom_of_memory();
  threads_on_their_own(provided);
  int all = 0;
  MPI_Reduce(&failures, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%d wrong\n", all);
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
