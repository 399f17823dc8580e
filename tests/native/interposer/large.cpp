// An unchanged MPI program that moves and combines large data, and beside each call makes the
// library's own. Arguments: what happens when its last rank reads the memory of others - `never`
// anything, `refused` from the first time or `later`, `short` where a read stops in the middle -
// and how often an operation is repeated for preloaded collectives to learn from. Exit 1 where
// something is wrong.
#include <dlfcn.h>
#include <mpi.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

using Bytes = std::vector<unsigned char>;

std::string reads = "never";
int reads_made = 0, reads_hindered = 0;
bool is_routed = false;
int failures = 0;
int rank = 0, size = 1;

void check(bool holds, const char* what, int count) {
  if (holds) return;
  ++failures;
  std::fprintf(stderr, "rank %d of %d: %s of %d\n", rank, size, what, count);
}

Bytes filled(std::size_t size_bytes, unsigned seed) {
  Bytes data(size_bytes);
  for (auto& byte : data)
    byte = static_cast<unsigned char>((seed = seed * 1664525 + 1013904223) >> 24);
  return data;
}

/// All operations with blocks of `count` bytes.
class Operations {
 public:
  Operations(int count, int root, bool is_in_place)
      : count_(count), root_(root), is_in_place_(is_in_place) {
    const auto seed = static_cast<unsigned>(rank);
    own_ = filled(static_cast<std::size_t>(count), 7 + seed);
    all_ = filled(own_.size() * static_cast<std::size_t>(size), 70 + seed);
  }

  void move() {
    const auto &mine = own_, &all = all_;
    const bool is_placed = is_in_place_ && rank == root_;
    compare(
        "bcast", mine,
        [&](auto bcast, Bytes& out) { bcast(out.data(), count_, MPI_BYTE, root_, MPI_COMM_WORLD); },
        MPI_Bcast, PMPI_Bcast);
    compare(
        "gather", all,
        [&](auto gather, Bytes& out) {
          gather(is_placed ? MPI_IN_PLACE : mine.data(), count_, MPI_BYTE, out.data(), count_,
                 MPI_BYTE, root_, MPI_COMM_WORLD);
        },
        MPI_Gather, PMPI_Gather);
    compare(
        "scatter", mine,
        [&](auto scatter, Bytes& out) {
          scatter(all.data(), count_, MPI_BYTE, is_placed ? MPI_IN_PLACE : out.data(), count_,
                  MPI_BYTE, root_, MPI_COMM_WORLD);
        },
        MPI_Scatter, PMPI_Scatter);
    compare(
        "allgather", all,
        [&](auto allgather, Bytes& out) {
          allgather(is_in_place_ ? MPI_IN_PLACE : mine.data(), count_, MPI_BYTE, out.data(), count_,
                    MPI_BYTE, MPI_COMM_WORLD);
        },
        MPI_Allgather, PMPI_Allgather);
    compare(
        "alltoall", all,
        [&](auto alltoall, Bytes& out) {
          const auto in = all;
          alltoall(is_in_place_ ? MPI_IN_PLACE : in.data(), count_, MPI_BYTE, out.data(), count_,
                   MPI_BYTE, MPI_COMM_WORLD);
        },
        MPI_Alltoall, PMPI_Alltoall);
  }

  void reduce() {
    const auto &mine = own_, &all = all_;
    const int shorts = count_ / 2;
    const auto in = [&](const Bytes& data) {
      return is_in_place_ ? MPI_IN_PLACE : static_cast<const void*>(data.data());
    };
    compare(
        "allreduce", mine,
        [&](auto allreduce, Bytes& out) {
          allreduce(in(mine), out.data(), shorts, MPI_SHORT, MPI_BXOR, MPI_COMM_WORLD);
        },
        MPI_Allreduce, PMPI_Allreduce);
    compare(
        "reduce", mine,
        [&](auto reduce, Bytes& out) {
          reduce(rank == root_ ? in(mine) : mine.data(), out.data(), shorts, MPI_SHORT, MPI_BXOR,
                 root_, MPI_COMM_WORLD);
          if (rank != root_) out.clear();
        },
        MPI_Reduce, PMPI_Reduce);
    compare(
        "reduce_scatter_block", all,
        [&](auto reduce_scatter, Bytes& out) {
          reduce_scatter(in(all), out.data(), shorts, MPI_SHORT, MPI_BXOR, MPI_COMM_WORLD);
          out.resize(static_cast<std::size_t>(2 * shorts));
        },
        MPI_Reduce_scatter_block, PMPI_Reduce_scatter_block);
  }

 private:
  template <class Call, class Function>
  void compare(const char* what, const Bytes& initial, Call call, Function* ours,
               Function* theirs) {
    Bytes out = initial, expected = initial;
    is_routed = true;
    call(ours, out);
    is_routed = false;
    call(theirs, expected);
    check(out == expected, what, count_);
  }

  int count_, root_;
  bool is_in_place_;
  Bytes own_, all_;
};

void with_gaps(int count) {
  MPI_Datatype type;
  MPI_Type_vector(count, 3, 5, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  auto ours = filled(static_cast<std::size_t>(5 * count), static_cast<unsigned>(rank));
  auto theirs = ours;
  MPI_Bcast(ours.data(), 1, type, size - 1, MPI_COMM_WORLD);
  PMPI_Bcast(theirs.data(), 1, type, size - 1, MPI_COMM_WORLD);
  check(ours == theirs, "bcast with gaps", count);
  MPI_Type_free(&type);
}

void sum_often(MPI_Comm comm, int calls, int count) {
  std::vector<int> in(static_cast<std::size_t>(count)), out(in.size());
  for (int i = 0; i < calls; ++i) {
    in.assign(in.size(), rank + i);
    in.back() = i;
    MPI_Allreduce(in.data(), out.data(), count, MPI_INT, MPI_SUM, comm);
    const bool is_right = out.front() == size * i + size * (size - 1) / 2 && out.back() == size * i;
    if (!is_right) std::abort();
  }
}

void threads_beside_each_other() {
  MPI_Comm first, second;
  MPI_Comm_dup(MPI_COMM_WORLD, &first);
  MPI_Comm_dup(MPI_COMM_WORLD, &second);
  std::thread other(sum_often, second, 20, 30001);
  sum_often(first, 20, 50001);
  other.join();
  MPI_Comm_free(&first);
  MPI_Comm_free(&second);
}

}  // namespace

// Found before that of the C library.
extern "C" ssize_t process_vm_readv(pid_t process, const iovec* own, unsigned long own_count,
                                    const iovec* others, unsigned long others_count,
                                    unsigned long flags) noexcept {
  static const auto system =
      reinterpret_cast<decltype(&process_vm_readv)>(dlsym(RTLD_NEXT, "process_vm_readv"));
  iovec part = *own;
  // Libraries copy so, too, and take no refusal; none copies so few bytes.
  const bool is_word = part.iov_len == sizeof(long);
  const bool is_hindered = rank == size - 1 && is_routed && !is_word;
  const bool is_refused = rank == size - 1 && reads == "refused" && is_word;
  const bool is_missing = is_hindered && reads == "later" && reads_made++ % 7 == 6;
  const bool is_short = is_hindered && reads == "short" && part.iov_len > 10001;
  reads_hindered += is_refused || is_missing || is_short ? 1 : 0;
  if (is_refused || is_missing) return errno = is_refused ? EPERM : EFAULT, -1;
  if (is_short) part.iov_len = 10001;
  return system(process, &part, own_count, others, others_count, flags);
}

int main(int argc, char** argv) {
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc > 1) reads = argv[1];
  const int learning_calls = argc > 2 ? std::atoi(argv[2]) : 0;
  for (const int count : {16384, 65537, 300001, (1 << 20) + 1, (1 << 22) - 3})
    for (const bool is_in_place : {false, true})
      if (learning_calls == 0 && (count < 1 << 20 || reads == "never")) {
        Operations operations(count, count % size, is_in_place);
        operations.move();
        operations.reduce();
      }
  with_gaps(50001);
  if (level == MPI_THREAD_MULTIPLE && reads != "later") threads_beside_each_other();
  sum_often(MPI_COMM_WORLD, learning_calls, 5000);
  const int own[]{failures, reads_hindered};
  int all[]{0, 0};
  PMPI_Allreduce(own, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%d wrong, %d reads hindered\n", all[0], all[1]);
  MPI_Finalize();
  return all[0] == 0 ? 0 : 1;
}
