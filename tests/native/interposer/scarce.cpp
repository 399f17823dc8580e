// An unchanged MPI program in which one rank after the other has no memory left to share. Argument:
// how many blocks of memory ranks share on a communicator where each has some. Exit 1 where
// something is wrong; a deadlock is for whoever starts it to end.
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace {

int failures = 0;
int rank = 0, size = 1;
bool is_poor = false;

void check(bool holds, const char* what) {
  if (holds) return;
  ++failures;
  std::fprintf(stderr, "rank %d of %d: %s\n", rank, size, what);
}

/// The blocks that this process shares with other ranks.
int shared_blocks() {
  std::ifstream maps("/proc/self/maps");
  int found = 0;
  for (std::string line; std::getline(maps, line);)
    found += line.find("memfd:nhalf") != std::string::npos ? 1 : 0;
  return found;
}

long resident_bytes() {
  std::ifstream pages("/proc/self/statm");
  long all = 0, resident = 0;
  pages >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

/// Operations whose results tell whether every rank took the same way.
void operate(MPI_Comm comm) {
  for (int i = 0; i < 20; ++i) {
    int sum = 0, value = rank + i;
    MPI_Barrier(comm);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    MPI_Bcast(&value, 1, MPI_INT, i % size, comm);
    check(sum == size * (size - 1) / 2 && value == i % size + i, "operations");
  }
}

/// What a communicator shared goes with it; where one rank has no room for it all do without.
void without_room(int expected) {
  for (int poor = -1; poor < size; ++poor) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    const int before = shared_blocks();
    is_poor = rank == poor;
    operate(comm);
    is_poor = false;
    operate(comm);
    check(shared_blocks() - before == (poor < 0 ? expected : 0), "shared, or not");
    MPI_Comm_free(&comm);
    check(shared_blocks() == before, "shared after all");
  }
}

/// Data with gaps are packed; the room for that is the program's again.
void large_with_gaps() {
  constexpr int count = 1 << 24;
  constexpr long kept_bytes_max = 1L << 25;
  std::vector<float> values(2 * count, 0.0F);
  if (rank == 0) values[2 * count - 2] = 1;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Datatype type;
  MPI_Type_vector(count, 1, 2, MPI_FLOAT, &type);
  MPI_Type_commit(&type);
  operate(comm);
  const long before_bytes = resident_bytes();
  MPI_Bcast(values.data(), 1, type, 0, comm);
  check(values[2 * count - 2] == 1 && values.back() == 0, "values with gaps");
  check(resident_bytes() - before_bytes < kept_bytes_max, "room for what was packed is kept");
  MPI_Type_free(&type);
  MPI_Comm_free(&comm);
}

}  // namespace

// Found before that of the C library.
extern "C" int posix_fallocate(int file, off_t at, off_t size_bytes) {
  static const auto own =
      reinterpret_cast<decltype(&posix_fallocate)>(dlsym(RTLD_NEXT, "posix_fallocate"));
  return is_poor ? ENOSPC : own(file, at, size_bytes);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  without_room(argc > 1 ? std::atoi(argv[1]) : 0);
  large_with_gaps();
  int all = 0;
  MPI_Reduce(&failures, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%d wrong\n", all);
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
