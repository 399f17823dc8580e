/* A wavefront: each rank takes a block from the left, works on it and passes it on. */
#include <mpi.h>
#include <stdlib.h>

static void work(double *block, int n)
{
    for (int i = 0; i < n; i++)
        block[i] = block[i] * 0.5 + 1.0;
}

int main(int argc, char **argv)
{
    int rank, size, n = atoi(argv[1]), blocks = argc > 2 ? atoi(argv[2]) : 16;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *block = calloc(n, sizeof *block);
    for (int b = 0; b < blocks; b++) {
        if (rank > 0)
            MPI_Recv(block, n, MPI_DOUBLE, rank - 1, b, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        work(block, n);
        if (rank + 1 < size)
            MPI_Send(block, n, MPI_DOUBLE, rank + 1, b, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
