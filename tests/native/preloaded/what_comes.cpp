// Ranks that write down what they get, in order; wrong data give exit code 3.
// Arguments: a file whose name each rank extends by its number, and what to do: "world" or
// "sessions", where ranks make communicators of pairs from groups, one after the other.
#include <mpi.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace {

bool is_right = true;
FILE* seen = nullptr;

void saw(const char* what, double value, double right) {
  std::fprintf(seen, "%s %g\n", what, value);
  is_right = is_right && value == right;
}

void operations(MPI_Comm comm, int base) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int turn = 0; turn < 3; ++turn) {
    double value = rank == 0 ? base + turn + 1 : -1;
    MPI_Bcast(&value, 1, MPI_DOUBLE, 0, comm);
    saw("broadcast", value, base + turn + 1);
  }
  // Whatever comes from anywhere is what was sent.
  if (rank == 0) {
    double sum = 0;
    for (int source = 1; source < size; ++source) {
      std::array<double, 4> data{};
      MPI_Recv(data.data(), 4, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
      sum += data[0] + data[3];
    }
    saw("received", sum, 2.0 * base * (size - 1) + size * (size - 1));
  } else {
    const std::array<double, 4> data{base + rank + 0.0, 0, 0, base + rank + 0.0};
    MPI_Send(data.data(), 4, MPI_DOUBLE, 0, 7, comm);
  }
  for (const int count : {1, 100, 20'000}) {
    std::vector<double> own(static_cast<std::size_t>(count), base + rank);
    std::vector<double> sum(own.size(), -1);
    MPI_Allreduce(own.data(), sum.data(), count, MPI_DOUBLE, MPI_SUM, comm);
    saw("sum", sum.back(), base * size + size * (size - 1) / 2);
    std::vector<double> all(own.size() * static_cast<std::size_t>(size), -1);
    MPI_Allgather(own.data(), count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, comm);
    saw("gathered", all.back(), base + size - 1);
    MPI_Barrier(comm);
  }
}

void world() {
  operations(MPI_COMM_WORLD, 100);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm turned = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);
  operations(turned, 200);
  MPI_Comm_free(&turned);
}

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
void pairs(MPI_Group all) {
  int rank = 0;
  int size = 0;
  MPI_Group_rank(all, &rank);
  MPI_Group_size(all, &size);
  for (int first = 0; first + 1 < size; ++first) {
    if (rank != first && rank != first + 1) continue;
    const std::array<int, 2> ranks{first, first + 1};
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Group_incl(all, 2, ranks.data(), &group);
    MPI_Comm_create_from_group(group, std::to_string(first).c_str(), MPI_INFO_NULL,
                               MPI_ERRORS_ARE_FATAL, &comm);
    operations(comm, 10 * first);
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
  }
}

int sessions(const std::string& path) {
  MPI_Session session = MPI_SESSION_NULL;
  MPI_Group all = MPI_GROUP_NULL;
  int rank = 0;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
  MPI_Group_rank(all, &rank);
  seen = std::fopen((path + std::to_string(rank)).c_str(), "w");
  pairs(all);
  MPI_Group_free(&all);
  MPI_Session_finalize(&session);
  return is_right ? 0 : 3;
}
#else
int sessions(const std::string& /*path*/) {
  return 77;
}
#endif

}  // namespace

int main(int count, char** words) {
  const std::string path = words[1];
  if (std::strcmp(words[2], "sessions") == 0) return sessions(path);
  int rank = 0;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  seen = std::fopen((path + std::to_string(rank)).c_str(), "w");
  world();
  MPI_Finalize();
  std::fclose(seen);
  return is_right ? 0 : 3;
}
