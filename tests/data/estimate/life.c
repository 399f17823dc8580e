/* The game of life on rows of ranks, a torus. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, n = atoi(argv[1]), turns = atoi(argv[2]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int rows = n / size, w = n + 2;
    int *a = calloc((rows + 2) * w, sizeof(int)), *b = calloc((rows + 2) * w, sizeof(int));
    for (int i = 1; i <= rows; i++)
        for (int j = 1; j <= n; j++)
            a[i * w + j] = (i * 7 + j * 3 + rank) % 5 == 0;
    int up = (rank + size - 1) % size, down = (rank + 1) % size;
    for (int turn = 0; turn < turns; turn++) {
        MPI_Sendrecv(a + w, w, MPI_INT, up, 0, a + (rows + 1) * w, w, MPI_INT, down, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(a + rows * w, w, MPI_INT, down, 1, a, w, MPI_INT, up, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        for (int i = 1; i <= rows; i++)
            for (int j = 1; j <= n; j++) {
                int *p = &a[i * w + j];
                int near = p[-w - 1] + p[-w] + p[-w + 1] + p[-1];
                near += p[1] + p[w - 1] + p[w] + p[w + 1];
                b[i * w + j] = near == 3 || (*p && near == 2);
            }
        int *swap = a;
        a = b;
        b = swap;
    }
    int alive = 0, all = 0;
    for (int i = 1; i <= rows; i++)
        for (int j = 1; j <= n; j++)
            alive += a[i * w + j];
    MPI_Reduce(&alive, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d\n", all);
    MPI_Finalize();
    return 0;
}
