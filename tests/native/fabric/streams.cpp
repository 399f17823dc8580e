// The ways in which the OSU micro-benchmarks measure, by name: prints sizes and picoseconds.
#include <mpi.h>

#include <array>
#include <cstdio>
#include <string_view>
#include <vector>

namespace {

constexpr int data_tag = 100;
constexpr int answer_tag = 101;
constexpr std::array<int, 6> sizes{1, 64, 1024, 8192, 65536, 262144};
constexpr int warm_up_rounds = 1;
constexpr int rounds = 10;
/// Ranks leave a barrier one after the other, so some pairs end before others, and their messages
/// of the next barrier would be in the way of rounds that count.
constexpr int idle_rounds = 1;

struct Job {
  int rank = 0;
  int ranks = 0;
  std::vector<char> out = std::vector<char>(sizes.back());
  std::vector<char> in = std::vector<char>(sizes.back());
};

/// Picoseconds of one of the rounds that count.
template <class Round>
double measured(Round round) {
  double begin = 0;
  double end = 0;
  for (int at = -warm_up_rounds; at < rounds + idle_rounds; ++at) {
    if (at == 0) begin = MPI_Wtime();
    if (at == rounds) end = MPI_Wtime();
    round();
  }
  return (end - begin) / rounds * 1e12;
}

void print(int size, double time_ps) {
  std::printf("%d %.3f\n", size, time_ps);
}

/// osu_latency: half of a round trip.
void latency(Job& job) {
  for (const int size : sizes) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double time_ps = measured([&] {
      const int other = 1 - job.rank;
      if (job.rank == 0) MPI_Send(job.out.data(), size, MPI_CHAR, other, data_tag, MPI_COMM_WORLD);
      MPI_Recv(job.in.data(), size, MPI_CHAR, other, data_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (job.rank == 1) MPI_Send(job.out.data(), size, MPI_CHAR, other, data_tag, MPI_COMM_WORLD);
    });
    if (job.rank == 0) print(size, time_ps / 2);
  }
}

/// What one of a pair does in osu_bw and osu_mbw_mr: a window of messages, and a short answer.
void window_of_messages(Job& job, int size, std::size_t messages, bool sends, int other) {
  std::vector<MPI_Request> requests(messages);
  char answer[4]{};
  for (auto& request : requests) {
    if (sends)
      MPI_Isend(job.out.data(), size, MPI_CHAR, other, data_tag, MPI_COMM_WORLD, &request);
    else
      MPI_Irecv(job.in.data(), size, MPI_CHAR, other, data_tag, MPI_COMM_WORLD, &request);
  }
  MPI_Waitall(static_cast<int>(messages), requests.data(), MPI_STATUSES_IGNORE);
  if (sends)
    MPI_Recv(answer, 4, MPI_CHAR, other, answer_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  else
    MPI_Send(answer, 4, MPI_CHAR, other, answer_tag, MPI_COMM_WORLD);
}

/// osu_bw, and osu_mbw_mr for several pairs: what a message more costs in windows of 64 and 128,
/// from which latencies cancel out.
void bandwidth(Job& job) {
  const int half = job.ranks / 2;
  const bool sends = job.rank < half;
  const int other = sends ? job.rank + half : job.rank - half;
  for (const int size : sizes) {
    std::array<double, 2> times_ps{};
    for (std::size_t at = 0; at < 2; ++at) {
      MPI_Barrier(MPI_COMM_WORLD);
      times_ps[at] = measured([&] { window_of_messages(job, size, 64 << at, sends, other); });
    }
    if (job.rank == 0) print(size, (times_ps[1] - times_ps[0]) / 64);
  }
}

/// osu_bibw: both send windows to each other.
void both_ways(Job& job) {
  constexpr std::size_t messages = 64;
  const int other = 1 - job.rank;
  for (const int size : sizes) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double time_ps = measured([&] {
      std::array<MPI_Request, 2 * messages> requests{};
      for (std::size_t at = 0; at < messages; ++at)
        MPI_Irecv(job.in.data(), size, MPI_CHAR, other, data_tag, MPI_COMM_WORLD, &requests[at]);
      for (std::size_t at = messages; at < 2 * messages; ++at)
        MPI_Isend(job.out.data(), size, MPI_CHAR, other, data_tag, MPI_COMM_WORLD, &requests[at]);
      MPI_Waitall(2 * messages, requests.data(), MPI_STATUSES_IGNORE);
    });
    if (job.rank == 0) print(size, time_ps / messages);
  }
}

/// osu_allreduce: every rank's mean, then the mean of these.
void allreduce(Job& job) {
  std::vector<float> own(static_cast<std::size_t>(sizes.back()) / sizeof(float), 1.0F);
  std::vector<float> sum(own.size());
  for (const int size : sizes) {
    if (size < 64) continue;
    MPI_Barrier(MPI_COMM_WORLD);
    double time_ps = measured([&] {
      MPI_Allreduce(own.data(), sum.data(), size / static_cast<int>(sizeof(float)), MPI_FLOAT,
                    MPI_SUM, MPI_COMM_WORLD);
    });
    double all_ps = 0;
    MPI_Reduce(&time_ps, &all_ps, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (job.rank == 0) print(size, all_ps / job.ranks);
  }
}

/// osu_put_latency: a put and a flush under one lock.
void put(Job& job) {
  MPI_Win window = MPI_WIN_NULL;
  char* memory = nullptr;
  MPI_Win_allocate(sizes.back(), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  for (const int size : sizes) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (job.rank == 0) {
      MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
      const double time_ps = measured([&] {
        MPI_Put(job.out.data(), size, MPI_CHAR, 1, 0, size, MPI_CHAR, window);
        MPI_Win_flush(1, window);
      });
      MPI_Win_unlock(1, window);
      print(size, time_ps);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Win_free(&window);
}

}  // namespace

int main(int count, char** words) {
  MPI_Init(&count, &words);
  Job job;
  MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
  const std::string_view way = count > 1 ? words[1] : "";
  if (way == "latency") latency(job);
  if (way == "bandwidth") bandwidth(job);
  if (way == "both") both_ways(job);
  if (way == "allreduce") allreduce(job);
  if (way == "put") put(job);
  MPI_Finalize();
}
