// Small programs that do with messages what large ones do: stencil, pipeline or reductions.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { width = 512, steps = 1500, blocks = 8, sweeps = 800, sums = 6000, part = 24000 };

static int rank, ranks;

/* Rows of a grid, each rank with its own; the first and the last row go to the neighbours. */
static double stencil(void) {
  const int above = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  const int below = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
  double* grid = calloc((size_t)2 * (width + 2) * width, sizeof *grid);
  double* from = grid;
  double* to = grid + (width + 2) * width;
  for (int at = 0; at < width; ++at) from[width + at] = to[width + at] = rank + 1.0;
  for (int step = 0; step < steps; ++step) {
    MPI_Request requests[4];
    MPI_Irecv(from, width, MPI_DOUBLE, above, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(from + (width + 1) * width, width, MPI_DOUBLE, below, 2, MPI_COMM_WORLD,
              &requests[1]);
    MPI_Isend(from + width, width, MPI_DOUBLE, above, 2, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(from + width * width, width, MPI_DOUBLE, below, 1, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    for (int row = 1; row <= width; ++row)
      for (int at = 1; at < width - 1; ++at)
        to[row * width + at] = 0.25 * (from[(row - 1) * width + at] + from[(row + 1) * width + at] +
                                       from[row * width + at - 1] + from[row * width + at + 1]);
    double* const swapped = from;
    from = to;
    to = swapped;
  }
  const double sum = from[width * width / 2];
  free(grid);
  return sum;
}

static double computed(double* data, int count) {
  double sum = 0;
  for (int at = 1; at < count; ++at) {
    data[at] = 0.5 * data[at - 1] + 0.5 * data[at] + 1e-3;
    sum += data[at];
  }
  return sum;
}

/* A rank computes each block after the one before it, and the next sweep comes back. */
static double pipeline(void) {
  double* data = calloc((size_t)blocks * part, sizeof *data);
  double edge[256] = {0};
  double sum = 0;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    const int step = sweep % 2 == 0 ? 1 : -1;
    const int before = rank - step, after = rank + step;
    for (int block = 0; block < blocks; ++block) {
      if (before >= 0 && before < ranks)
        MPI_Recv(edge, 256, MPI_DOUBLE, before, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      data[block * part] = edge[block];
      sum += edge[0] = computed(data + block * part, part);
      if (after >= 0 && after < ranks) MPI_Send(edge, 256, MPI_DOUBLE, after, 3, MPI_COMM_WORLD);
    }
  }
  free(data);
  return sum;
}

/* Short sums of all ranks, and now and then a block around a ring. */
static double reductions(void) {
  double* data = calloc(part, sizeof *data);
  double* block = calloc(part, sizeof *block);
  double own[2] = {rank, 1}, all[2] = {0};
  for (int round = 0; round < sums; ++round) {
    own[0] = computed(data, part);
    MPI_Allreduce(own, all, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    data[0] = 1e-9 * all[0];
    if (round % 8 == 0)
      MPI_Sendrecv(data, 4096, MPI_DOUBLE, (rank + 1) % ranks, 4, block, 4096, MPI_DOUBLE,
                   (rank + ranks - 1) % ranks, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  free(block);
  free(data);
  return all[0];
}

int main(int count, char** words) {
  const char* const which = count > 1 ? words[1] : "";
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  double sum = 0;
  int is_known = 1;
  if (strcmp(which, "stencil") == 0)
    sum = stencil();
  else if (strcmp(which, "pipeline") == 0)
    sum = pipeline();
  else if (strcmp(which, "reductions") == 0)
    sum = reductions();
  else
    is_known = 0;
  if (rank == 0) printf("%s %.17g\n", which, sum);
  MPI_Finalize();
  return is_known ? 0 : 2;
}
