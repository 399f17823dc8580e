/* Shortest paths between all pairs (Floyd): rows in blocks, row k is broadcast by its owner. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, n = atoi(argv[1]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int rows = n / size, i, j, k;
    double *d = malloc(rows * n * sizeof(double)), *row = malloc(n * sizeof(double));
    for (i = 0; i < rows; i++)
        for (j = 0; j < n; j++)
            d[i * n + j] = 1.0 + (double)((7 * (i + rank * rows) + 13 * j) % 101);
    for (k = 0; k < n; k++) {
        int owner = k / rows;
        if (rank == owner)
            for (j = 0; j < n; j++)
                row[j] = d[(k - owner * rows) * n + j];
        MPI_Bcast(row, n, MPI_DOUBLE, owner, MPI_COMM_WORLD);
        for (i = 0; i < rows; i++) {
            double through = d[i * n + k];
            for (j = 0; j < n; j++)
                if (through + row[j] < d[i * n + j])
                    d[i * n + j] = through + row[j];
        }
    }
    if (rank == 0)
        printf("%g\n", d[n - 1]);
    MPI_Finalize();
    return 0;
}
