// Computes for about a fifth of a millisecond and sums over all ranks, as often as the argument
// says; prints the seconds that this took, median over ten parts.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { parts = 10, length = 40000 };

static int in_order(const void* first, const void* second) {
  const double difference = *(const double*)first - *(const double*)second;
  return (difference > 0) - (difference < 0);
}

int main(int count, char** words) {
  MPI_Init(&count, &words);
  const int steps = atoi(words[1]) / parts;
  double took_s[parts], value = 1, sum = 0;
  for (int part = 0; part < parts; ++part) {
    MPI_Barrier(MPI_COMM_WORLD);
    took_s[part] = -MPI_Wtime();
    for (int step = 0; step < steps; ++step) {
      for (int at = 0; at < length; ++at) value = 0.5 * value + 0.25;
      MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    took_s[part] += MPI_Wtime();
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  qsort(took_s, parts, sizeof *took_s, in_order);
  if (rank == 0) printf("%.9f %g\n", took_s[parts / 2] * parts, sum);
  MPI_Finalize();
}
