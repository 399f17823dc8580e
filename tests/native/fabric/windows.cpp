// One-sided operations: what they do to memory, and what they take.
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string_view>

namespace {

constexpr int numbers = 16384;

struct Window {
  Window() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Win_allocate(numbers * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &handle);
    for (int at = 0; at < numbers; ++at) memory[at] = rank * 1000 + at;
    following = (rank + 1) % ranks;
    previous = (rank + ranks - 1) % ranks;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ~Window() { MPI_Win_free(&handle); }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  void expect(const char* what, long got, long expected) const {
    if (got != expected)
      std::printf("%s on rank %d: %ld instead of %ld\n", what, rank, got, expected);
    else if (rank == 0)
      std::printf("%s\n", what);
  }

  long* memory = nullptr;
  MPI_Win handle = MPI_WIN_NULL;
  int rank = 0;
  int ranks = 0;
  int following = 0;
  int previous = 0;
};

void fences(Window& window) {
  const long number = 42 + window.rank;
  const long one = 1;
  MPI_Win_fence(0, window.handle);
  MPI_Put(&number, 1, MPI_LONG, window.following, 5, 1, MPI_LONG, window.handle);
  MPI_Accumulate(&one, 1, MPI_LONG, 0, 6, 1, MPI_LONG, MPI_SUM, window.handle);
  MPI_Win_fence(0, window.handle);
  window.expect("put", window.memory[5], 42 + window.previous);
  if (window.rank == 0) window.expect("accumulate", window.memory[6], 6 + window.ranks);
}

void locks(Window& window) {
  long number = 0;
  MPI_Win_lock(MPI_LOCK_SHARED, window.following, 0, window.handle);
  MPI_Get(&number, 1, MPI_LONG, window.following, 7, 1, MPI_LONG, window.handle);
  MPI_Win_unlock(window.following, window.handle);
  window.expect("get", number, window.following * 1000 + 7);
  for (int time = 0; time < 5; ++time) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window.handle);
    MPI_Get(&number, 1, MPI_LONG, 0, 8, 1, MPI_LONG, window.handle);
    MPI_Win_flush(0, window.handle);
    ++number;
    MPI_Put(&number, 1, MPI_LONG, 0, 8, 1, MPI_LONG, window.handle);
    MPI_Win_unlock(0, window.handle);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, window.rank, 0, window.handle);
  MPI_Win_unlock(window.rank, window.handle);
  if (window.rank == 0) window.expect("lock", window.memory[8], 8 + 5 * window.ranks);
}

void atomics(Window& window) {
  const long one = 1;
  const long expected = 12;
  const long own = 100 + window.rank;
  const std::array<double, 3> addends{0.5, 1.0, 1.5};
  long sum = 0;
  long before = 0;
  MPI_Win_lock_all(0, window.handle);
  for (int time = 0; time < 5; ++time) {
    MPI_Fetch_and_op(&one, &before, MPI_LONG, 0, 9, MPI_SUM, window.handle);
    MPI_Win_flush(0, window.handle);
  }
  MPI_Compare_and_swap(&own, &expected, &before, MPI_LONG, 0, 12, window.handle);
  MPI_Win_flush(0, window.handle);
  const long has_won = before == 12 ? 1 : 0;
  if (window.rank == 0) {
    // All bits of 0.0 are zero.
    const std::array<long, 3> zeros{};
    MPI_Put(zeros.data(), 3, MPI_LONG, 0, 20, 3, MPI_LONG, window.handle);
  }
  MPI_Win_flush_all(window.handle);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Accumulate(addends.data(), 3, MPI_DOUBLE, 0, 20, 3, MPI_DOUBLE, MPI_SUM, window.handle);
  MPI_Win_unlock_all(window.handle);
  MPI_Allreduce(&has_won, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  window.expect("swap", sum, 1);
  if (window.rank != 0) return;
  window.expect("fetch", window.memory[9], 9 + 5 * window.ranks);
  double total = 0;
  for (int at = 0; at < 3; ++at) total += reinterpret_cast<double*>(window.memory)[20 + at];
  window.expect("sum", static_cast<long>(total), 3 * window.ranks);
}

void posts(Window& window) {
  const long number = 7 + window.rank;
  MPI_Group all;
  MPI_Group to;
  MPI_Group from;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, &window.following, &to);
  MPI_Group_incl(all, 1, &window.previous, &from);
  MPI_Win_post(from, 0, window.handle);
  MPI_Win_start(to, 0, window.handle);
  MPI_Put(&number, 1, MPI_LONG, window.following, 30, 1, MPI_LONG, window.handle);
  MPI_Win_complete(window.handle);
  MPI_Win_wait(window.handle);
  window.expect("post", window.memory[30], 7 + window.previous);
  MPI_Group_free(&from);
  MPI_Group_free(&to);
  MPI_Group_free(&all);
}

/// What rank 0's accesses to rank 1 take, in microseconds.
void times(Window& window) {
  std::array<long, numbers> data{};
  MPI_Win_lock_all(0, window.handle);
  for (const int count : {1, 1, 2048, numbers}) {
    if (window.rank != 0) continue;
    const double begin = MPI_Wtime();
    MPI_Get(data.data(), count, MPI_LONG, 1, 0, count, MPI_LONG, window.handle);
    MPI_Win_flush(1, window.handle);
    const double middle = MPI_Wtime();
    MPI_Put(data.data(), count, MPI_LONG, 1, 0, count, MPI_LONG, window.handle);
    MPI_Win_flush(1, window.handle);
    std::printf("%d %.4f %.4f\n", count * 8, (middle - begin) * 1e6, (MPI_Wtime() - middle) * 1e6);
  }
  MPI_Win_unlock_all(window.handle);
}

/// A get from a rank that calls MPI only after a second.
void asleep(Window& window) {
  long number = 0;
  MPI_Win_lock_all(0, window.handle);
  if (window.rank == 1) usleep(1'000'000);
  const double begin = MPI_Wtime();
  if (window.rank == 0) {
    MPI_Get(&number, 1, MPI_LONG, 1, 7, 1, MPI_LONG, window.handle);
    MPI_Win_flush(1, window.handle);
    std::printf("%ld after %.0f us\n", number, (MPI_Wtime() - begin) * 1e6);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_unlock_all(window.handle);
}

/// Rank 0 keeps the lock that rank 1 needs to go on.
void deadlock(Window& window) {
  if (window.rank == 1) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window.handle);
  if (window.rank == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Recv(nullptr, 0, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  long number = 0;
  MPI_Get(&number, 1, MPI_LONG, 0, 7, 1, MPI_LONG, window.handle);
  MPI_Win_unlock(0, window.handle);
}

/// Memory that the ranks of a node share, as one writes and all read.
void shared() {
  MPI_Comm node;
  MPI_Win window;
  long* own = nullptr;
  long* first = nullptr;
  MPI_Aint size = 0;
  int rank = 0;
  int unit = 0;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &rank);
  MPI_Win_allocate_shared(rank == 0 ? 8 : 0, 8, MPI_INFO_NULL, node, &own, &window);
  MPI_Win_shared_query(window, 0, &size, &unit, &first);
  MPI_Win_fence(0, window);
  if (rank == 0) *first = 42;
  MPI_Win_fence(0, window);
  std::printf("%ld\n", *first);
  MPI_Win_free(&window);
  MPI_Comm_free(&node);
}

}  // namespace

int main(int count, char** words) {
  MPI_Init(&count, &words);
  {
    const std::string_view part = count > 1 ? words[1] : "";
    if (part == "shared") shared();
    Window window;
    if (part == "times") times(window);
    if (part == "asleep") asleep(window);
    if (part == "deadlock") deadlock(window);
    if (part.empty()) {
      fences(window);
      locks(window);
      atomics(window);
      posts(window);
    }
  }
  MPI_Finalize();
  return 0;
}
