/* Dot products of distributed vectors, each summed over all ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    if (argc < 2) {
        fprintf(stderr, "usage: dot N\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    long n = atol(argv[1]);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long own = n / size + (rank < n % size);
    double *x = malloc(own * sizeof(double)), *y = malloc(own * sizeof(double));
    for (long i = 0; i < own; i++) {
        x[i] = 1.0;
        y[i] = 2.0;
    }
    double whole = 0.0;
    for (int turn = 0; turn < 20; turn++) {
        double part = 0.0;
        for (long i = 0; i < own; i++)
            part += x[i] * y[i];
        MPI_Allreduce(&part, &whole, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("%g\n", whole);
    MPI_Finalize();
    return 0;
}
