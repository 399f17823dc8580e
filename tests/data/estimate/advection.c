/* A wave that is carried around a ring of ranks, by the scheme of Lax and Wendroff. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct wave {
    int cells;
    double c, *now, *next;
};

static double flux(double left, double middle, double right, double c)
{
    return middle - 0.5 * c * (right - left) + 0.5 * c * c * (right - 2.0 * middle + left);
}

static void advance(struct wave *w)
{
    for (int i = 1; i <= w->cells; i++)
        w->next[i] = flux(w->now[i - 1], w->now[i], w->now[i + 1], w->c);
    double *old = w->now;
    w->now = w->next;
    w->next = old;
}

int main(int argc, char **argv)
{
    int rank, size, n = atoi(argv[1]), steps = atoi(argv[2]);
    struct wave w;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    w.cells = n / size;
    w.c = 0.4;
    w.now = malloc((w.cells + 2) * sizeof(double));
    w.next = malloc((w.cells + 2) * sizeof(double));
    for (int i = 0; i < w.cells + 2; i++)
        w.now[i] = w.next[i] = rank + 0.001 * i;
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    for (int t = 0; t < steps; t++) {
        MPI_Sendrecv(&w.now[w.cells], 1, MPI_DOUBLE, right, 5, &w.now[0], 1, MPI_DOUBLE, left, 5,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(&w.now[1], 1, MPI_DOUBLE, left, 6, &w.now[w.cells + 1], 1, MPI_DOUBLE, right,
                     6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        advance(&w);
    }
    if (rank == 0)
        printf("%g\n", w.now[1]);
    MPI_Finalize();
    return 0;
}
