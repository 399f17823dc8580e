/* Pi by darts from a linear congruential generator, and by the area under an arc. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned next(unsigned seed)
{
    return seed * 1664525u + 1013904223u;
}

int main(int argc, char **argv)
{
    int rank, size;
    long throws = atol(argv[1]), hits = 0, all = 0;
    double area = 0.0, total = 0.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long own = throws / size;
    unsigned seed = 12345u + rank;
    for (long i = 0; i < own; i++) {
        seed = next(seed);
        double x = seed / 4294967296.0;
        seed = next(seed);
        double y = seed / 4294967296.0;
        hits += x * x + y * y < 1.0;
    }
    for (long i = rank; i < throws; i += size) {
        double x = (i + 0.5) / throws;
        area += sqrt(1.0 - x * x);
    }
    MPI_Reduce(&hits, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&area, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%f %f\n", 4.0 * all / throws, 4.0 * total / throws);
    MPI_Finalize();
    return 0;
}
