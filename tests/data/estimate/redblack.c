/* Poisson's equation by red-black relaxation, rows dealt out in blocks. */
#include <mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char *argv[])
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int n = atoi(argv[1]), sweeps = atoi(argv[2]);
    const int rows = n / size, w = n + 2;
    const double h2 = 1.0 / ((n + 1.0) * (n + 1.0)), omega = 1.7;
    double *u = (double *)calloc((rows + 2) * w, sizeof(double));
    int up = rank - 1, down = rank + 1;
    if (up < 0) up = MPI_PROC_NULL;
    if (down >= size) down = MPI_PROC_NULL;
    double change = 0.0, all = 0.0;
    for (int sweep = 0; sweep < sweeps; sweep++) {
        change = 0.0;
        for (int colour = 0; colour < 2; colour++) {
            MPI_Sendrecv(u + w, w, MPI_DOUBLE, up, 10, u + (rows + 1) * w, w, MPI_DOUBLE, down,
                         10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Sendrecv(u + rows * w, w, MPI_DOUBLE, down, 11, u, w, MPI_DOUBLE, up, 11,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 1; i <= rows; i++) {
                double *above = u + (i - 1) * w, *own = u + i * w, *below = u + (i + 1) * w;
                for (int j = 1 + (i + colour) % 2; j <= n; j += 2) {
                    double r = 0.25 * (above[j] + below[j] + own[j - 1] + own[j + 1] + h2) - own[j];
                    own[j] += omega * r;
                    change += r * r;
                }
            }
        }
        MPI_Allreduce(&change, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    if (rank == 0) printf("%g\n", sqrt(all));
    free(u);
    MPI_Finalize();
    return 0;
}
