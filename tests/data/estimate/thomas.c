/* Many tridiagonal systems, whose unknowns are dealt out in blocks: a pipeline there and back. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, n = atoi(argv[1]), systems = atoi(argv[2]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int own = n / size;
    double *c = malloc((own + 1) * systems * sizeof(double));
    double *d = malloc((own + 2) * systems * sizeof(double));
    for (int s = 0; s < systems; s++) {
        double *cs = c + s * (own + 1), *ds = d + s * (own + 2), ends[2] = {0.0, 0.0};
        if (rank > 0)
            MPI_Recv(ends, 2, MPI_DOUBLE, rank - 1, s, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        cs[0] = ends[0];
        ds[0] = ends[1];
        for (int i = 1; i <= own; i++) {
            double m = 1.0 / (4.0 - cs[i - 1]);
            cs[i] = m;
            ds[i] = (1.0 + ds[i - 1]) * m;
        }
        ends[0] = cs[own];
        ends[1] = ds[own];
        if (rank < size - 1)
            MPI_Send(ends, 2, MPI_DOUBLE, rank + 1, s, MPI_COMM_WORLD);
    }
    for (int s = 0; s < systems; s++) {
        double *cs = c + s * (own + 1), *ds = d + s * (own + 2);
        ds[own + 1] = 0.0;
        if (rank < size - 1)
            MPI_Recv(&ds[own + 1], 1, MPI_DOUBLE, rank + 1, s, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = own; i >= 1; i--)
            ds[i] += cs[i] * ds[i + 1];
        if (rank > 0)
            MPI_Send(&ds[1], 1, MPI_DOUBLE, rank - 1, s, MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("%g\n", d[1]);
    MPI_Finalize();
    return 0;
}
