// Programs of large operations with computing between them: training, sharded, grid, roots, halo.
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 1 << 20 };
static int ranks, rank;
static float *own, *other;

// Sleep is computing that takes equally long in every launch.
static void compute(long microseconds) {
  struct timespec time = {0, microseconds * 1000};
  nanosleep(&time, 0);
}

static void sum(int count, MPI_Comm ranks_of) {
  MPI_Allreduce(own, other, count, MPI_FLOAT, MPI_SUM, ranks_of);
}

static void norm(void) {
  double part = 1, whole;
  MPI_Allreduce(&part, &whole, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

// Gradients in buckets, each summed while the next ones are computed.
static void training(void) {
  enum { BUCKETS = 5 };
  const int counts[BUCKETS] = {65536, 262144, 1048576, 524288, 131072};
  float* gradients[BUCKETS];
  MPI_Request sums[BUCKETS];
  for (int bucket = 0; bucket < BUCKETS; ++bucket)
    gradients[bucket] = calloc(counts[bucket], sizeof(float));
  MPI_Bcast(gradients[2], counts[2], MPI_FLOAT, 0, MPI_COMM_WORLD);
  for (int step = 0; step < 3; ++step) {
    compute(3000);
    for (int bucket = 0; bucket < BUCKETS; ++bucket) {
      compute(1500);
      MPI_Iallreduce(MPI_IN_PLACE, gradients[bucket], counts[bucket], MPI_FLOAT, MPI_SUM,
                     MPI_COMM_WORLD, &sums[bucket]);
    }
    MPI_Waitall(BUCKETS, sums, MPI_STATUSES_IGNORE);
    compute(500);
    norm();
  }
}

// Parameters are gathered layer by layer, gradients reduced and scattered.
static void sharded(void) {
  const int counts[4] = {16384, 262144, 1048576, 65536};
  for (int step = 0; step < 2; ++step) {
    for (int layer = 0; layer < 4; ++layer) {
      const int part = counts[layer] / ranks;
      MPI_Allgather(own, part, MPI_FLOAT, other, part, MPI_FLOAT, MPI_COMM_WORLD);
      compute(700);
    }
    for (int layer = 3; layer >= 0; --layer) {
      compute(1400);
      MPI_Reduce_scatter_block(other, own, counts[layer] / ranks, MPI_FLOAT, MPI_SUM,
                               MPI_COMM_WORLD);
    }
    norm();
    if (step == 1) MPI_Bcast(other, counts[1], MPI_FLOAT, 0, MPI_COMM_WORLD);
  }
}

// Transposes and gathers in rows, sums and broadcasts in columns, then all ranks together.
static void grid(void) {
  const int width = ranks >= 32 ? 8 : 4;
  MPI_Comm row, column;
  MPI_Comm_split(MPI_COMM_WORLD, rank / width, rank, &row);
  MPI_Comm_split(MPI_COMM_WORLD, rank % width, rank, &column);
  for (int step = 0; step < 3; ++step) {
    compute(1000);
    const int block = (1 << 19) / width, part = (1 << 18) / ranks;
    MPI_Alltoall(own, block, MPI_FLOAT, other, block, MPI_FLOAT, row);
    sum(1 << 18, column);
    compute(500);
    MPI_Allgather(own, 1 << 15, MPI_FLOAT, other, 1 << 15, MPI_FLOAT, row);
    MPI_Alltoall(own, part, MPI_FLOAT, other, part, MPI_FLOAT, MPI_COMM_WORLD);
    MPI_Bcast(own, 1 << 17, MPI_FLOAT, 0, column);
    sum(1 << 16, MPI_COMM_WORLD);
  }
}

// A rank in the middle hands out work and collects it; then ranks broadcast in turn.
static void roots(void) {
  const int root = ranks / 2 + 1, count = 1 << 19, part = count / ranks;
  for (int step = 0; step < 3; ++step) {
    MPI_Scatter(own, part, MPI_FLOAT, other, part, MPI_FLOAT, root, MPI_COMM_WORLD);
    compute(800 + 10 * rank);
    MPI_Gather(other, part, MPI_FLOAT, own, part, MPI_FLOAT, root, MPI_COMM_WORLD);
    MPI_Bcast(own, count, MPI_FLOAT, root, MPI_COMM_WORLD);
    compute(500);
    MPI_Reduce(own, other, count / 2, MPI_FLOAT, MPI_SUM, root, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int turn = 0; turn < 4; ++turn)
      MPI_Bcast(own, count / 8, MPI_FLOAT, turn * 3 % ranks, MPI_COMM_WORLD);
  }
}

// A ring exchanges its edges, then sums, and gathers and reduces blocks of two sizes.
static void halo(void) {
  const int edge = 1 << 15, left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  int counts[64], places[64];
  for (int of = 0, place = 0; of < ranks; place += counts[of++]) {
    counts[of] = MOST / 2 / ranks * (of % 2 ? 3 : 1) / 2;
    places[of] = place;
  }
  for (int step = 0; step < 4; ++step) {
    MPI_Request edges[4];
    MPI_Irecv(other, edge, MPI_FLOAT, left, 0, MPI_COMM_WORLD, edges);
    MPI_Irecv(other + edge, edge, MPI_FLOAT, right, 1, MPI_COMM_WORLD, edges + 1);
    MPI_Isend(own, edge, MPI_FLOAT, right, 0, MPI_COMM_WORLD, edges + 2);
    MPI_Isend(own + edge, edge, MPI_FLOAT, left, 1, MPI_COMM_WORLD, edges + 3);
    compute(600);
    MPI_Waitall(4, edges, MPI_STATUSES_IGNORE);
    sum(MOST / 4, MPI_COMM_WORLD);
    MPI_Allgatherv(own, counts[rank], MPI_FLOAT, other, counts, places, MPI_FLOAT, MPI_COMM_WORLD);
    compute(400);
    MPI_Reduce_scatter(own, other, counts, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  }
}

int main(int count, char** words) {
  MPI_Init(&count, &words);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  own = calloc(MOST, sizeof(float));
  other = calloc(MOST, sizeof(float));
  const char* name = count > 1 ? words[1] : "";
  if (!strcmp(name, "training")) training();
  if (!strcmp(name, "sharded")) sharded();
  if (!strcmp(name, "grid")) grid();
  if (!strcmp(name, "roots")) roots();
  if (!strcmp(name, "halo")) halo();
  MPI_Finalize();
}
