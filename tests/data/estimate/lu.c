/* LU without pivots; row i belongs to rank i % size. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    int me, np, n = argc > 1 ? atoi(argv[1]) : 200;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &np);
    double **a = malloc(n * sizeof(double *)), *pivot = malloc(n * sizeof(double));
    for (int i = 0; i < n; i++) {
        a[i] = malloc(n * sizeof(double));
        for (int j = 0; j < n; j++)
            a[i][j] = i == j ? n : 1.0 / (1 + i + j);
    }
    for (int k = 0; k < n - 1; k++) {
        if (k % np == me)
            memcpy(pivot, a[k], n * sizeof(double));
        MPI_Bcast(pivot + k, n - k, MPI_DOUBLE, k % np, MPI_COMM_WORLD);
        for (int i = k + 1; i < n; i++) {
            if (i % np != me)
                continue;
            double factor = a[i][k] / pivot[k];
            a[i][k] = factor;
            for (int j = k + 1; j < n; j++)
                a[i][j] -= factor * pivot[j];
        }
    }
    if ((n - 1) % np == me)
        printf("%g\n", a[n - 1][n - 1]);
    MPI_Finalize();
    return 0;
}
