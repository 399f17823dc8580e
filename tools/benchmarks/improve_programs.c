// Small programs for searches of what makes them faster: some wait for the library only, so that a
// bad setting of it is a brake, the others have none. Words: which, rounds, and bytes or a size.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COMPUTING = 20000, ITEMS = 64, SLEEP_US = 150000 };

static int rank, ranks, size;
static double *out, *in;

static double compute(int steps) {
  double value = 1;
  for (int step = 0; step < steps; ++step) value = value * 1.0000001 + 1e-9;
  return value;
}

/// Even ranks send to the next ones, which answer.
static double pingpong(void) {
  if (rank % 2 == 0) MPI_Send(out, size, MPI_CHAR, rank + 1, 1, MPI_COMM_WORLD);
  MPI_Recv(in, size, MPI_CHAR, rank ^ 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank % 2 == 1) MPI_Send(out, size, MPI_CHAR, rank - 1, 1, MPI_COMM_WORLD);
  return in[0];
}

/// A ring, while each rank computes or waits for something that is no processor.
static double exchange(int sleeps) {
  MPI_Request requests[2];
  double value = 0;
  MPI_Irecv(in, size, MPI_CHAR, (rank + ranks - 1) % ranks, 2, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out, size, MPI_CHAR, (rank + 1) % ranks, 2, MPI_COMM_WORLD, &requests[1]);
  const struct timespec length = {0, SLEEP_US * 1000L};
  if (sleeps) nanosleep(&length, NULL);
  if (!sleeps) value = compute(COMPUTING);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  return value + in[0];
}

static double allreduce(void) {
  MPI_Allreduce(out, in, size / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return in[0];
}

/// A rod of `size` cells: neighbours exchange their ends, and all cells become means.
static double stencil(double* cells, double* next) {
  const int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  const int right = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
  MPI_Sendrecv(&cells[1], 1, MPI_DOUBLE, left, 3, &cells[size + 1], 1, MPI_DOUBLE, right, 3,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(&cells[size], 1, MPI_DOUBLE, right, 4, &cells[0], 1, MPI_DOUBLE, left, 4,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 1; i <= size; ++i) next[i] = 0.5 * cells[i] + 0.25 * (cells[i - 1] + cells[i + 1]);
  memcpy(cells + 1, next + 1, sizeof(double) * (size_t)size);
  return cells[1];
}

/// A step of conjugate gradients: a stencil and two sums over all ranks.
static double gradients(double* cells, double* next) {
  double part[2] = {stencil(cells, next), 0};
  double whole[2];
  for (int i = 1; i <= size; ++i) part[1] += cells[i] * cells[i];
  MPI_Allreduce(&part[0], &whole[0], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(&part[1], &whole[1], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return whole[0] + whole[1];
}

/// Rank 0 gives work to the others one by one, of lengths that differ, and takes the results.
static double farm(void) {
  double result = 0;
  MPI_Status status;
  for (int item = 0, busy = ranks - 1; rank == 0 && busy > 0;) {
    MPI_Recv(&result, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &status);
    const int work = item < ITEMS ? size / 2 + size * (item++ % 3) / 2 : 0;
    busy -= work == 0;
    MPI_Send(&work, 1, MPI_INT, status.MPI_SOURCE, 6, MPI_COMM_WORLD);
  }
  for (int work = 1; rank > 0 && work > 0;) {
    MPI_Send(&result, 1, MPI_DOUBLE, 0, 5, MPI_COMM_WORLD);
    MPI_Recv(&work, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    result = compute(work);
  }
  return result;
}

int main(int count, char** words) {
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (count < 4) MPI_Abort(MPI_COMM_WORLD, 2);
  const char* which = words[1];
  const int rounds = atoi(words[2]);
  size = atoi(words[3]);
  const size_t length = sizeof(double) * ((size_t)size + 2);
  out = calloc(length, 1);
  in = calloc(length, 1);
  if (!out || !in) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int i = 0; i < size + 2; ++i) out[i] = in[i] = 1 + rank;
  double sum = 0;
  for (int round = 0; round < rounds; ++round) {
    if (!strcmp(which, "pingpong")) sum += pingpong();
    if (!strcmp(which, "exchange")) sum += exchange(0);
    if (!strcmp(which, "accelerator")) sum += exchange(1);
    if (!strcmp(which, "allreduce")) sum += allreduce();
    if (!strcmp(which, "barrier")) MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(which, "stencil")) sum += stencil(out, in);
    if (!strcmp(which, "gradients")) sum += gradients(out, in);
    if (!strcmp(which, "farm")) sum += farm();
  }
  if (rank == 0) printf("%.6g\n", sum);
  MPI_Finalize();
}
