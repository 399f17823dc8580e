/* Jacobi on a grid of ranks; columns go as a vector type. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    int rows, columns, width;
    int north, south, west, east;
    double *now, *next;
} Field;

int main(int argc, char **argv)
{
    int size, n = atoi(argv[1]), steps = atoi(argv[2]), dims[2] = {0, 0}, periods[2] = {0, 0};
    MPI_Comm grid;
    MPI_Datatype column;
    Field f;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Cart_shift(grid, 0, 1, &f.north, &f.south);
    MPI_Cart_shift(grid, 1, 1, &f.west, &f.east);
    f.rows = n / dims[0];
    f.columns = n / dims[1];
    f.width = f.columns + 2;
    f.now = calloc((f.rows + 2) * f.width, sizeof(double));
    f.next = calloc((f.rows + 2) * f.width, sizeof(double));
    MPI_Type_vector(f.rows, 1, f.width, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    if (f.north == MPI_PROC_NULL)
        for (int j = 0; j < f.width; j++)
            f.now[j] = f.next[j] = 1.0;
    for (int step = 0; step < steps; step++) {
        double *u = f.now;
        int w = f.width;
        MPI_Sendrecv(u + w, w, MPI_DOUBLE, f.north, 0, u + (f.rows + 1) * w, w, MPI_DOUBLE, f.south,
                     0, grid, MPI_STATUS_IGNORE);
        MPI_Sendrecv(u + f.rows * w, w, MPI_DOUBLE, f.south, 1, u, w, MPI_DOUBLE, f.north, 1, grid,
                     MPI_STATUS_IGNORE);
        MPI_Sendrecv(u + w + 1, 1, column, f.west, 2, u + w + f.columns + 1, 1, column, f.east, 2,
                     grid, MPI_STATUS_IGNORE);
        MPI_Sendrecv(u + w + f.columns, 1, column, f.east, 3, u + w, 1, column, f.west, 3, grid,
                     MPI_STATUS_IGNORE);
        for (int i = 1; i <= f.rows; i++)
            for (int j = 1; j <= f.columns; j++)
                f.next[i * f.width + j] = 0.25 * (f.now[(i - 1) * f.width + j]
                    + f.now[(i + 1) * f.width + j] + f.now[i * f.width + j - 1]
                    + f.now[i * f.width + j + 1]);
        double *swap = f.now;
        f.now = f.next;
        f.next = swap;
    }
    printf("%g\n", f.now[f.width + 1]);
    MPI_Finalize();
    return 0;
}
