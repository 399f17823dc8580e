// An unchanged MPI program that calls collectives often enough for preloaded ones to try several
// ways, and checks every result. Exit 1 where something is wrong. Arguments: the calls of each
// operation and size, and, if no call may be wrong on one rank only, `without-errors`.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

int failures = 0;
int rank = 0, size = 1;

void check(bool holds, const char* what) {
  if (holds) return;
  if (++failures < 10) std::fprintf(stderr, "rank %d of %d: %s\n", rank, size, what);
}

/// What rank `from` contributes to call `number`, at place `i`.
int term(int from, int number, int i) {
  return from * 1000 + number * 7 + i;
}

/// All operations with vectors or blocks of `count` numbers.
class Operations {
 public:
  Operations(MPI_Comm comm, int count) : comm_(comm), count_(count) {
    MPI_Comm_rank(comm, &own_);
    MPI_Comm_size(comm, &all_);
    in_.resize(static_cast<std::size_t>(count * all_));
    out_.resize(in_.size());
  }

  void call(int number) {
    const int root = number % all_;
    for (int i = 0; i < count_ * all_; ++i) at(in_, i) = term(own_, number, i);
    out_.assign(out_.size(), -1);
    MPI_Barrier(comm_);
    MPI_Allgather(in_.data(), count_, MPI_INT, out_.data(), count_, MPI_INT, comm_);
    expect("allgather", [&](int i) { return term(i / count_, number, i % count_); });
    MPI_Alltoall(in_.data(), count_, MPI_INT, out_.data(), count_, MPI_INT, comm_);
    expect("alltoall", [&](int i) { return term(i / count_, number, own_ * count_ + i % count_); });
    MPI_Allreduce(in_.data(), out_.data(), count_, MPI_INT, MPI_SUM, comm_);
    expect("allreduce", [&](int i) { return sum(all_, number, i); }, count_);
    MPI_Scan(in_.data(), out_.data(), count_, MPI_INT, MPI_SUM, comm_);
    expect("scan", [&](int i) { return sum(own_ + 1, number, i); }, count_);
    MPI_Reduce(in_.data(), out_.data(), count_, MPI_INT, MPI_MAX, root, comm_);
    if (own_ == root) expect("reduce", [&](int i) { return term(all_ - 1, number, i); }, count_);
    MPI_Gather(in_.data(), count_, MPI_INT, out_.data(), count_, MPI_INT, root, comm_);
    if (own_ == root) expect("gather", [&](int i) { return term(i / count_, number, i % count_); });
    MPI_Scatter(in_.data(), count_, MPI_INT, out_.data(), count_, MPI_INT, root, comm_);
    expect("scatter", [&](int i) { return term(root, number, own_ * count_ + i); }, count_);
    MPI_Bcast(in_.data(), count_, MPI_INT, root, comm_);
    check(at(in_, count_ - 1) == term(root, number, count_ - 1), "bcast");
  }

 private:
  static int& at(std::vector<int>& data, int i) { return data[static_cast<std::size_t>(i)]; }
  static int sum(int ranks, int number, int i) {
    return ranks * term(0, number, i) + 1000 * (ranks * (ranks - 1) / 2);
  }

  template <class Expected>
  void expect(const char* what, Expected expected, int count = 0) {
    for (int i = 0; i < (count > 0 ? count : count_ * all_); ++i)
      check(at(out_, i) == expected(i), what);
  }

  MPI_Comm comm_;
  int count_, own_ = 0, all_ = 1;
  std::vector<int> in_, out_;
};

void every_operation(MPI_Comm comm, int calls) {
  for (const int count : {1, 100, 3000}) {
    Operations operations(comm, count);
    const int fewer = count > 1000 ? calls / 8 : calls;
    for (int i = 0; i < fewer; ++i) operations.call(i);
  }
}

/// Rounding shows the order of the terms: it must not change from call to call.
void sums_keep_their_bits(int calls) {
  const double mine = 0.1 + rank * 1e-16 + (rank % 2 == 0 ? 1e16 : -1e16) / (rank + 1);
  double first = 0;
  for (int i = 0; i < calls; ++i) {
    double total = 0;
    MPI_Allreduce(&mine, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (i == 0) first = total;
    check(std::memcmp(&first, &total, sizeof total) == 0, "bits of a sum changed");
  }
}

/// A call that is wrong on one rank only does not count there.
void one_rank_errs(int calls) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  for (int i = 0; i < calls; ++i) {
    int value = rank == 0 ? i : -1;
    if (i % 10 == 0 && rank == size - 1)
      check(MPI_Bcast(&value, 1, MPI_INT, size + 5, comm) != MPI_SUCCESS, "no error");
    MPI_Bcast(&value, 1, MPI_INT, 0, comm);
    check(value == i, "broadcast after an error of one rank");
  }
  MPI_Comm_free(&comm);
}

void communicators_come_and_go(int calls) {
  for (int i = 0; i < 12; ++i) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, rank % (1 + i % 2), -rank, &comm);
    Operations operations(comm, 4);
    for (int number = 0; number < calls / 8; ++number) operations.call(number);
    MPI_Comm_free(&comm);
  }
}

void threads_beside_each_other(int calls) {
  MPI_Comm first, second;
  MPI_Comm_dup(MPI_COMM_WORLD, &first);
  MPI_Comm_dup(MPI_COMM_WORLD, &second);
  const auto work = [calls](MPI_Comm comm) {
    int own = 0, all = 0;
    MPI_Comm_rank(comm, &own);
    MPI_Comm_size(comm, &all);
    for (int i = 0; i < calls; ++i) {
      long sum = own + i;
      MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG, MPI_SUM, comm);
      if (sum != static_cast<long>(all) * i + all * (all - 1) / 2) std::abort();
    }
  };
  std::thread other(work, second);
  work(first);
  other.join();
  MPI_Comm_free(&second);
  MPI_Comm_free(&first);
}

}  // namespace

int main(int argc, char** argv) {
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int calls = argc > 1 ? std::atoi(argv[1]) : 1000;
  every_operation(MPI_COMM_WORLD, calls);
  const char* learning = std::getenv("NHALF_COLL_LEARN");
  if (learning == nullptr || std::strcmp(learning, "all") != 0) sums_keep_their_bits(calls);
  if (argc < 3) one_rank_errs(calls);
  communicators_come_and_go(calls);
  if (level == MPI_THREAD_MULTIPLE) threads_beside_each_other(calls);
  int all_failures = 0;
  PMPI_Allreduce(&failures, &all_failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%d wrong\n", all_failures);
  MPI_Finalize();
  return all_failures == 0 ? 0 : 1;
}
