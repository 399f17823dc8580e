// A master that gives tasks to whoever asks first: prints who did which, and when it was over.
#include <mpi.h>

#include <cstdio>
#include <vector>

namespace {

constexpr int tasks = 60;
constexpr int end_tag = tasks;
constexpr int room = 4000;

/// Tasks differ, so that the workers come back in another order than they went.
int length_of(int task) {
  return 1 + task * 7919 % room;
}

void give(const std::vector<double>& data, int& task, int worker) {
  const int tag = task < tasks ? task++ : end_tag;
  MPI_Send(data.data(), tag == end_tag ? 0 : length_of(tag), MPI_DOUBLE, worker, tag,
           MPI_COMM_WORLD);
}

void master(int workers) {
  std::vector<double> data(room, 1.0);
  int task = 0;
  for (int worker = 1; worker <= workers; ++worker) give(data, task, worker);
  for (int at_work = workers; at_work > 0;) {
    MPI_Status status;
    MPI_Recv(data.data(), room, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    std::printf("task %d of rank %d at %.12f\n", status.MPI_TAG, status.MPI_SOURCE, MPI_Wtime());
    if (task == tasks) --at_work;
    give(data, task, status.MPI_SOURCE);
  }
}

/// Answers with another length than it got.
void worker() {
  std::vector<double> data(room);
  while (true) {
    MPI_Status status;
    MPI_Recv(data.data(), room, MPI_DOUBLE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    if (status.MPI_TAG == end_tag) return;
    MPI_Send(data.data(), length_of(tasks - status.MPI_TAG), MPI_DOUBLE, 0, status.MPI_TAG,
             MPI_COMM_WORLD);
  }
}

}  // namespace

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank == 0)
    master(ranks - 1);
  else
    worker();
  MPI_Finalize();
}
