// Every way to look for a message without waiting: rank 0 looks until what rank 1 sends after
// 50 microseconds is there, and prints how often it looked in vain, and when the last look ended.
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string_view>

namespace {

constexpr int tag = 4;
constexpr int parts = 2;

struct Looks {
  int got = 0;
  int flag = 0;
  int index = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status{};
};

template <class Look>
void look_until(const volatile int& flag, Look look) {
  long looks = 0;
  for (; flag == 0; ++looks) look();
  std::printf("%ld looks until %.9f\n", looks, MPI_Wtime());
}

/// Looks at the request of a receive, then ends it.
void look_at_request(std::string_view way, Looks& in) {
  MPI_Irecv(&in.got, 1, MPI_INT, 1, tag, MPI_COMM_WORLD, &in.request);
  auto& [got, flag, index, request, status] = in;
  std::array<int, 1> indices{};
  look_until(flag, [&] {
    if (way == "test") MPI_Test(&request, &flag, &status);
    if (way == "testany") MPI_Testany(1, &request, &index, &flag, &status);
    if (way == "testall") MPI_Testall(1, &request, &flag, &status);
    if (way == "testsome") MPI_Testsome(1, &request, &flag, indices.data(), &status);
    if (way == "status") MPI_Request_get_status(request, &flag, &status);
  });
  MPI_Wait(&request, &status);
}

/// Looks for a message that nobody has received yet, then receives it.
void look_for_message(std::string_view way, Looks& in) {
  if (way == "iprobe") {
    look_until(in.flag,
               [&] { MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &in.flag, &in.status); });
    MPI_Recv(&in.got, 1, MPI_INT, 1, tag, MPI_COMM_WORLD, &in.status);
    return;
  }
  MPI_Message message = MPI_MESSAGE_NULL;
  look_until(in.flag,
             [&] { MPI_Improbe(1, MPI_ANY_TAG, MPI_COMM_WORLD, &in.flag, &message, &in.status); });
  MPI_Mrecv(&in.got, 1, MPI_INT, &message, &in.status);
}

void await_message(std::string_view way) {
  Looks in;
  if (way == "iprobe" || way == "improbe")
    look_for_message(way, in);
  else
    look_at_request(way, in);
  std::printf("got %d\n", in.got);
}

/// A message in parts, of which the second comes last.
void partitioned(int rank) {
  std::array<int, parts> data{rank, rank};
  MPI_Request request = MPI_REQUEST_NULL;
  int flag = 0;
  if (rank == 1) {
    MPI_Psend_init(data.data(), parts, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Pready(0, request);
    usleep(50);
    MPI_Pready(1, request);
  } else {
    MPI_Precv_init(data.data(), parts, 1, MPI_INT, 1, tag, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    look_until(flag, [&] { MPI_Parrived(request, 1, &flag); });
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank == 0) std::printf("got %d\n", data[1]);
  MPI_Request_free(&request);
}

/// A barrier in the background.
void collective(int rank) {
  MPI_Request request = MPI_REQUEST_NULL;
  int flag = 0;
  if (rank == 1) usleep(50);
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  if (rank == 0)
    look_until(flag, [&] { MPI_Test(&request, &flag, MPI_STATUS_IGNORE); });
  else
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank == 0) std::printf("got 1\n");
}

/// What a loop does that waits for a number in its own window.
void look_in_window(std::string_view way, MPI_Win win) {
  int is_there = 0;
  if (way == "win-flag")
    MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
  if (way == "win-sleep") usleep(1);
  if (way == "win-sleep" || way == "win-clock") MPI_Wtime();
  if (way == "win-sleep" || way == "win-flush") MPI_Win_flush(0, win);
  MPI_Win_sync(win);
}

/// Counts in its own part of a window, while others wait.
void count_alone(int rank, MPI_Win win) {
  const int one = 1;
  int before = 0;
  for (int number = 0; number < 20; ++number) {
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    MPI_Fetch_and_op(&one, &before, MPI_INT, rank, 0, MPI_SUM, win);
    MPI_Win_unlock(rank, win);
  }
}

/// An exposed window: whether its partner is done, or a number in it that its partner puts there.
void window(std::string_view way, int rank) {
  int* memory = nullptr;
  int flag = 0;
  int* counter = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win counting = MPI_WIN_NULL;
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &counter, &counting);
  *memory = *counter = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Group partner = MPI_GROUP_NULL;
  const int other = 1 - rank;
  MPI_Group_incl(all, 1, &other, &partner);
  if (way == "win-test") {
    if (rank == 0) {
      MPI_Win_post(partner, 0, win);
      look_until(flag, [&] { MPI_Win_test(win, &flag); });
    } else {
      MPI_Win_start(partner, 0, win);
      usleep(50);
      MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
      MPI_Win_complete(win);
    }
  } else {
    MPI_Win_lock_all(0, win);
    if (rank == 0) {
      look_until(*memory, [&] { look_in_window(way, win); });
    } else {
      usleep(50);
      if (way == "win-sleep") count_alone(rank, counting);
      MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
      MPI_Win_flush(0, win);
    }
    MPI_Win_unlock_all(win);
  }
  if (rank == 0) std::printf("got %d\n", *memory);
  MPI_Group_free(&partner);
  MPI_Group_free(&all);
  MPI_Win_free(&counting);
  MPI_Win_free(&win);
}

/// A millisecond of reading a variable of the library's.
void variable() {
  int provided = 0;
  int number = 0;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  const double begin = MPI_Wtime();
  long reads = 0;
  for (; MPI_Wtime() - begin < 1e-3; ++reads) MPI_T_pvar_get_num(&number);
  MPI_T_finalize();
  std::printf("%ld looks until %.9f\ngot 1\n", reads, MPI_Wtime());
}

/// Both look for a message that neither sends.
void never(int rank) {
  int flag = 0;
  while (flag == 0) MPI_Iprobe(1 - rank, tag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

void look(std::string_view way, int rank) {
  if (way == "parrived") return partitioned(rank);
  if (way == "collective") return collective(rank);
  if (way.starts_with("win-")) return window(way, rank);
  if (way == "never") return never(rank);
  if (way == "variable") return rank == 0 ? variable() : void();
  if (rank == 0) return await_message(way);
  usleep(50);
  MPI_Send(&rank, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
}

}  // namespace

int main(int count, char** words) {
  if (count > 2) std::printf("%.9f\n", MPI_Wtime());  // Some read it as early as that.
  MPI_Init(&count, &words);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  look(count > 1 ? words[1] : "", rank);
  MPI_Finalize();
}
