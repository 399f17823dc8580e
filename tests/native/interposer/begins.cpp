// An unchanged MPI program that calls collectives often enough for preloaded ones to learn, under
// the condition that the argument names. Each rank prints a digest of all results, which must not
// depend on the ways that calls took.
//   plain     nothing else
//   filtered  the kernel refuses all reads of other processes' memory
//   leaves    the last rank ends early, while the others go on among themselves
//   exits     the last rank ends without MPI_Finalize, with exit code 3, while the others go on
//   throws    a handler of errors throws an exception through the call that was wrong
//   sessions  there is no MPI_COMM_WORLD; exit code 77 where the library has no sessions
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mpi.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace {

constexpr int no_sessions = 77;

/// Calls all kinds of operations on one communicator, and remembers what came out.
class Calls {
 public:
  explicit Calls(MPI_Comm comm) : comm_(comm) {
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &size_);
  }

  void make(int calls, int count) {
    in_.assign(static_cast<std::size_t>(count) * static_cast<std::size_t>(size_), 0);
    out_ = in_;
    for (int number = 0; number < calls; ++number) {
      std::iota(in_.begin(), in_.end(), rank_ * 1000 + number);
      MPI_Barrier(comm_);
      MPI_Allreduce(in_.data(), out_.data(), count, MPI_INT, MPI_SUM, comm_);
      note();
      MPI_Alltoall(in_.data(), count, MPI_INT, out_.data(), count, MPI_INT, comm_);
      note();
      MPI_Gather(in_.data(), count, MPI_INT, out_.data(), count, MPI_INT, number % size_, comm_);
      note();
      MPI_Bcast(out_.data(), count, MPI_INT, number % size_, comm_);
      note();
    }
  }
  void print(int rank) const {
    std::printf("rank %d digest %08x\n", rank, static_cast<unsigned>(digest_));
    std::fflush(stdout);
  }

 private:
  void note() {
    for (const int value : out_) digest_ = digest_ * 31U + static_cast<std::uint32_t>(value);
  }

  MPI_Comm comm_;
  int rank_ = 0, size_ = 1;
  std::vector<int> in_, out_;
  std::uint32_t digest_ = 17;
};

/// Lets the kernel refuse reads of other processes' memory, from now on.
bool refuse_reads() {
  sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1U),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{sizeof rules / sizeof *rules, rules};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

void learn(Calls& calls) {
  calls.make(260, 2);
  calls.make(44, 16384);
}

void throw_error(MPI_Comm*, int*, ...) {
  throw std::runtime_error("an error of MPI");
}

/// Every rank errs in the same call, catches what its handler throws, and goes on.
int errors_thrown(int calls) {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(&throw_error, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  int caught = 0, value = 0;
  for (int i = 0; i < calls; ++i) {
    try {
      MPI_Bcast(&value, 1, MPI_INT, -5, MPI_COMM_WORLD);
    } catch (const std::runtime_error&) {
      ++caught;
    }
  }
  MPI_Errhandler_free(&handler);
  return caught;
}

int in_session() {
#if MPI_VERSION >= 4
  MPI_Session session;
  if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) != MPI_SUCCESS)
    return no_sessions;
  MPI_Group group;
  MPI_Comm comm;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "begins", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Group_free(&group);
  Calls calls(comm);
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  learn(calls);
  calls.print(rank);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
  return 0;
#else
  return no_sessions;
#endif
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "plain";
  if (what == "sessions") return in_session();
  if (what == "filtered" && !refuse_reads()) return 1;
  MPI_Init(&argc, &argv);
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  Calls calls(MPI_COMM_WORLD);
  learn(calls);
  if (what == "leaves" || what == "exits") {
    const bool is_last = rank == size - 1;
    MPI_Comm others;
    MPI_Comm_split(MPI_COMM_WORLD, is_last ? 1 : 0, rank, &others);
    if (is_last && what == "exits") std::_Exit(3);
    if (!is_last) {
      Calls among_others(others);
      learn(among_others);
      among_others.print(rank);
    }
    // With the one that is gone: whoever notices ends the job.
    if (what == "exits") calls.make(1, 2);
    MPI_Comm_free(&others);
  }
  if (what == "throws") {
    std::printf("rank %d caught %d\n", rank, errors_thrown(50));
    learn(calls);
  }
  calls.print(rank);
  MPI_Finalize();
}
