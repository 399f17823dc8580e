// SPDX-License-Identifier: Apache-2.0
// Does a persistent gather deliver what was sent? Prints the wrong bytes by size; 0 is right.
//
//     mpicc persistent_gather.c -o persistent_gather && mpiexec -n 2 ./persistent_gather
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { rounds = 6 };

// Every byte differs from its neighbours, from those of other ranks and from those of other rounds.
static char byte_of(int rank, int round, int place) { return (char)(7 * rank + 3 * round + place); }

static long wrong_bytes(int size_bytes, int rank, int ranks) {
  char *given = malloc((size_t)size_bytes);
  char *gathered = calloc((size_t)ranks, (size_t)size_bytes);
  MPI_Request request;
  MPI_Gather_init(given, size_bytes, MPI_BYTE, gathered, size_bytes, MPI_BYTE, 0, MPI_COMM_WORLD,
                  MPI_INFO_NULL, &request);
  long wrong = 0;
  for (int round = 0; round < rounds; ++round) {
    for (int place = 0; place < size_bytes; ++place) given[place] = byte_of(rank, round, place);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int from = 0; rank == 0 && from < ranks; ++from)
      for (int place = 0; place < size_bytes; ++place)
        wrong += gathered[from * size_bytes + place] != byte_of(from, round, place);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Request_free(&request);
  free(given);
  free(gathered);
  return wrong;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int size_bytes = 4; size_bytes <= 16384; size_bytes *= 4) {
    const long wrong = wrong_bytes(size_bytes, rank, ranks);
    if (rank == 0)
      printf("%5d bytes: %ld of %ld wrong\n", size_bytes, wrong, (long)rounds * ranks * size_bytes);
  }
  MPI_Finalize();
  return 0;
}
