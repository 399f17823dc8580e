// What programs do with MPI besides calling it in main: `life FILE WHAT`. The first rank writes
// what it saw into the file; a run without preloaded libraries writes the same.
#include <mpi.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

std::string path;
MPI_Comm kept = MPI_COMM_NULL;
int handled = 0;
bool ends_late = false;

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

void say(MPI_Comm comm, const char* what, double value) {
  if (rank_in(comm) != 0) return;
  std::FILE* file = std::fopen(path.c_str(), "a");
  if (file == nullptr) {
    std::perror(path.c_str());
    std::exit(1);
  }
  std::fprintf(file, "%s %g\n", what, value);
  std::fclose(file);
}

/// Sums, and every second item of a message that the first rank sends.
void use(MPI_Comm comm, int times) {
  const double mine = rank_in(comm) + 1;
  double sum = 0;
  std::vector<int> items(200, -1);
  MPI_Datatype strided = MPI_DATATYPE_NULL;
  MPI_Type_vector(100, 1, 2, MPI_INT, &strided);
  MPI_Type_commit(&strided);
  for (int time = 0; time < times; ++time) {
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
    if (rank_in(comm) == 0)
      for (std::size_t at = 0; at < items.size(); ++at) items[at] = static_cast<int>(at) + time;
    MPI_Bcast(items.data(), 1, strided, 0, comm);
  }
  MPI_Type_free(&strided);
  int wrong = 0;
  for (int at = 0; at < 200; at += 2)
    if (items[static_cast<std::size_t>(at)] != at + times - 1) ++wrong;
  int all_wrong = 0;
  MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, comm);
  say(comm, "sum", sum);
  say(comm, "wrong", all_wrong);
}

void end() {
  // Ranks have different heaps, so what was freed is overwritten on some of them alone.
  if (rank_in(MPI_COMM_WORLD) == 1)
    for (std::size_t bytes = 16; bytes < 4096; bytes += 16)
      for (int time = 0; time < 20; ++time) std::memset(std::malloc(bytes), 0x5a, bytes);
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
  use(made, 20);
  use(kept, 20);
  MPI_Comm_free(&made);
  MPI_Comm_free(&kept);
  MPI_Finalize();
}

struct Environment {
  ~Environment() {
    if (ends_late) end();
  }
} environment;

/// Calls MPI when its thread ends.
struct OfThread {
  int number = 0;
  ~OfThread() {
    if (number > 0) use(MPI_COMM_SELF, 1);
  }
};
thread_local OfThread of_thread;

void count(MPI_Comm*, int*, ...) {
  ++handled;
}

/// Wrong arguments, of which the program's handler hears.
void handlers() {
  MPI_Errhandler own = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(&count, &own);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, own);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, own);
  std::array<char, 16> data{};
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Barrier(MPI_COMM_NULL);
  MPI_Send(data.data(), 1, MPI_BYTE, 0, 0, MPI_COMM_NULL);
  MPI_Send(data.data(), 1, MPI_BYTE, 77, 0, MPI_COMM_WORLD);
  MPI_Isend(data.data(), 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD, &request);
  MPI_Bcast(data.data(), -1, MPI_BYTE, 0, MPI_COMM_WORLD);
  MPI_Bcast(data.data(), 1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD);
  MPI_Sendrecv(data.data(), 1, MPI_DATATYPE_NULL, 0, 0, data.data() + 8, 1, MPI_BYTE, 0, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Allreduce(data.data(), data.data() + 8, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD);
  say(MPI_COMM_WORLD, "handled", handled);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&own);
}

void limited(int which, rlim_t most) {
  rlimit limit{};
  getrlimit(which, &limit);
  limit.rlim_cur = most;
  setrlimit(which, &limit);
}

/// Sizes without end, each counted apart.
void many_sizes() {
  std::array<char, 4096> data{};
  for (int size = 1; size <= 4096; ++size)
    MPI_Bcast(data.data(), size, MPI_CHAR, 0, MPI_COMM_WORLD);
}

void communicators() {
  for (int time = 0; time < 50; ++time) {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    use(made, 1);
    MPI_Comm_free(&made);
  }
}

/// A few descriptors more than MPI has open, which depends on the ports of the machine.
void few_descriptors() {
  const int lowest = dup(0);
  if (lowest < 0) std::abort();
  close(lowest);
  limited(RLIMIT_NOFILE, static_cast<rlim_t>(lowest) + 8);
}

/// More addresses than these are not to be had, but the program needs few.
void few_addresses() {
  long pages = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%ld", &pages) != 1) std::abort();
  std::fclose(file);
  limited(RLIMIT_AS, static_cast<rlim_t>(pages) * 4096 + (rlim_t{64} << 20U));
}

}  // namespace

int main(int words, char** word) {
  path = word[1];
  const std::string what = word[2];
  int level = MPI_THREAD_SINGLE;
  if (what == "addresses-before") limited(RLIMIT_AS, rlim_t{3} << 30U);
  MPI_Init_thread(&words, &word, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_dup(MPI_COMM_WORLD, &kept);
  use(MPI_COMM_WORLD, 20);
  if (what == "destructor" || what == "atexit") {
    ends_late = what == "destructor";
    if (!ends_late) std::atexit(&end);
    return 0;
  }
  if (what == "thread" && level == MPI_THREAD_MULTIPLE)
    for (int time = 0; time < 4; ++time) std::thread([] { of_thread.number = 1; }).join();
  if (what == "handlers") handlers();
  if (what == "file-size") limited(RLIMIT_FSIZE, 90000), many_sizes();
  if (what == "descriptors") few_descriptors(), communicators();
  if (what == "addresses") few_addresses(), many_sizes(), communicators();
  use(kept, 3);
  MPI_Comm_free(&kept);
  MPI_Finalize();
  return what == "exit-code" ? 7 : 0;
}
