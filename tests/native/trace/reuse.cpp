// Receives that end in ways in which their sizes are not known to a tracer, each followed by
// requests for sends, to which the library may give the same handles. Their statuses look like
// those of messages, since libraries leave them as they were. At the end rank 0 receives 8 bytes.
#include <mpi.h>
#include <setjmp.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <vector>

namespace {

constexpr int receives = 10;
constexpr int sends = 20;
int rank = 0;
jmp_buf place;
std::array<char, 4096> data{};
std::array<MPI_Request, receives> begun{};

void leave(MPI_Comm* /*unused*/, int* /*unused*/, ...) {
  longjmp(place, 1);
}

MPI_Status garbage() {
  MPI_Status status;
  std::memset(&status, 0x5a, sizeof status);
  status.MPI_SOURCE = 1;
  status.MPI_TAG = 1;
  status.MPI_ERROR = MPI_SUCCESS;
  return status;
}

/// Sends that rank 1 receives.
void send() {
  for (int message = 0; message < sends; ++message) {
    MPI_Status status = garbage();
    if (rank == 1) {
      MPI_Recv(data.data(), 100, MPI_CHAR, 0, 2, MPI_COMM_WORLD, &status);
      continue;
    }
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Issend(data.data(), 100, MPI_CHAR, 1, 2, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
  }
}

/// Rank 0 begins receives of 8 bytes, and rank 1 sends messages of `bytes`.
void begin(int bytes) {
  for (auto& request : begun) {
    if (rank == 0)
      MPI_Irecv(data.data(), 8, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &request);
    else
      MPI_Send(data.data(), bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
  }
}

/// Ends each receive with a call of MPI that is within another one.
int ending(MPI_Comm /*unused*/, int /*unused*/, void* /*unused*/, void* /*unused*/) {
  for (auto& request : begun) MPI_Wait(&request, MPI_STATUS_IGNORE);
  return MPI_SUCCESS;
}

void end_within() {
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &ending, &key, nullptr);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Comm_set_attr(comm, key, nullptr);
  MPI_Comm_free(&comm);
  MPI_Comm_free_keyval(&key);
}

void end_among_many() {
  std::vector<MPI_Request> all(3'000'000, MPI_REQUEST_NULL);
  for (std::size_t at = 0; at < begun.size(); ++at) all[at * 1000] = begun[at];
  MPI_Waitall(static_cast<int>(all.size()), all.data(), MPI_STATUSES_IGNORE);
}

void end_with_errors() {
  int number = 0;
  int flag = 0;
  std::array<int, receives> places{};
  std::array<MPI_Status, receives> statuses{};
  MPI_Wait(&begun[0], MPI_STATUS_IGNORE);
  while (begun[1] != MPI_REQUEST_NULL) MPI_Test(&begun[1], &flag, MPI_STATUS_IGNORE);
  MPI_Waitany(2, &begun[2], &number, MPI_STATUS_IGNORE);
  MPI_Waitsome(3, &begun[2], &number, places.data(), statuses.data());
  MPI_Waitall(receives, begun.data(), statuses.data());
}

void end_with_jumps() {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(&leave, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  static volatile int at;
  for (at = 0; at < receives; ++*const_cast<int*>(&at))
    if (setjmp(place) == 0) MPI_Wait(&begun[static_cast<std::size_t>(at)], MPI_STATUS_IGNORE);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
}

/// Lets messages that do not fit come before the receives begin.
void fail(void (*end)()) {
  if (rank == 0) MPI_Barrier(MPI_COMM_WORLD);
  begin(64);
  if (rank == 1) MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) end();
  send();
}

}  // namespace

int main(int count, char** words) {
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (void (*end)() : {&end_within, &end_among_many}) {
    begin(8);
    if (rank == 0) end();
    send();
  }
  begin(8);
  for (auto& request : begun)
    if (rank == 0) PMPI_Wait(&request, MPI_STATUS_IGNORE);
  send();
  fail(&end_with_errors);
  fail(&end_with_jumps);
  if (rank == 0) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status = garbage();
    MPI_Irecv(data.data(), 8, MPI_CHAR, 1, 3, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
  } else {
    MPI_Send(data.data(), 8, MPI_CHAR, 0, 3, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  if (rank == 0) std::puts("all handles reused");
  return 0;
}
