/* The largest eigenvalue of a dense matrix by power iteration. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, p, n = 512, turns = 20;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    if (argc > 1)
        n = atoi(argv[1]);
    if (argc > 2)
        turns = atoi(argv[2]);
    int *counts = malloc(p * sizeof(int)), *starts = malloc(p * sizeof(int));
    for (int r = 0, at = 0; r < p; r++) {
        counts[r] = n / p + (r < n % p);
        starts[r] = at;
        at += counts[r];
    }
    int own = counts[rank];
    double *m = malloc((size_t)own * n * sizeof(double));
    double *x = malloc(n * sizeof(double)), *y = malloc(own * sizeof(double)), norm = 0.0;
    for (int i = 0; i < own; i++)
        for (int j = 0; j < n; j++)
            m[(size_t)i * n + j] = 1.0 / (starts[rank] + i + j + 1);
    for (int j = 0; j < n; j++)
        x[j] = 1.0;
    for (int t = 0; t < turns; t++) {
        double part = 0.0;
        for (int i = 0; i < own; i++) {
            double sum = 0.0;
            for (int j = 0; j < n; j++)
                sum += m[(size_t)i * n + j] * x[j];
            y[i] = sum;
            part += sum * sum;
        }
        MPI_Allreduce(&part, &norm, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        norm = sqrt(norm);
        for (int i = 0; i < own; i++)
            y[i] /= norm;
        MPI_Allgatherv(y, own, MPI_DOUBLE, x, counts, starts, MPI_DOUBLE, MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("%.6f\n", norm);
    MPI_Finalize();
    return 0;
}
