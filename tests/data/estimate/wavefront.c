/* Gauss-Seidel in two dimensions: rows are dealt out in blocks, and ranks follow each other. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size;
    int n = atoi(argv[1]), steps = atoi(argv[2]), width = atoi(argv[3]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int rows = n / size;
    double *u = calloc((size_t)(rows + 2) * (n + 2), sizeof(double));
    for (int j = 0; j < n + 2; j++)
        u[j] = rank == 0 ? 1.0 : 0.0;
    for (int step = 0; step < steps; step++)
        for (int from = 1; from <= n; from += width) {
            if (rank > 0)
                MPI_Recv(&u[from], width, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            for (int i = 1; i <= rows; i++)
                for (int j = from; j < from + width; j++)
                    u[i * (n + 2) + j] = 0.5 * (u[(i - 1) * (n + 2) + j] + u[i * (n + 2) + j - 1]);
            if (rank < size - 1)
                MPI_Send(&u[rows * (n + 2) + from], width, MPI_DOUBLE, rank + 1, 0,
                         MPI_COMM_WORLD);
        }
    if (rank == size - 1)
        printf("%g\n", u[rows * (n + 2) + n]);
    free(u);
    MPI_Finalize();
    return 0;
}
