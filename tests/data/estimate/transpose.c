/* A square matrix in rows of ranks, transposed again and again. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, n = atoi(argv[1]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int rows = n / size, block = rows * rows;
    double *a = calloc((size_t)rows * n, sizeof(double));
    double *sent = calloc((size_t)rows * n, sizeof(double));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int turn = 0; turn < 10; turn++) {
        for (int r = 0; r < size; r++)
            for (int i = 0; i < rows; i++)
                for (int j = 0; j < rows; j++)
                    sent[r * block + i * rows + j] = a[j * n + r * rows + i];
        MPI_Alltoall(sent, block, MPI_DOUBLE, a, block, MPI_DOUBLE, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
