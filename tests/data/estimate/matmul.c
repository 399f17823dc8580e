/* C = A B: rows of A and C stay, blocks of B go around the ring of ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, n = atoi(argv[1]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int rows = n / size;
    double *a = malloc(rows * n * sizeof(double)), *b = malloc(rows * n * sizeof(double));
    double *c = calloc(rows * n, sizeof(double));
    for (int i = 0; i < rows * n; i++) {
        a[i] = 1.0 + i;
        b[i] = 2.0 - i;
    }
    for (int turn = 0; turn < size; turn++) {
        int from = (rank + turn) % size;
        for (int i = 0; i < rows; i++)
            for (int k = 0; k < rows; k++)
                for (int j = 0; j < n; j++)
                    c[i * n + j] += a[i * n + from * rows + k] * b[k * n + j];
        MPI_Sendrecv_replace(b, rows * n, MPI_DOUBLE, (rank + size - 1) % size, 0,
                             (rank + 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (rank == 0)
        printf("%g\n", c[0]);
    MPI_Finalize();
    return 0;
}
