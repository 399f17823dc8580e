/* Heat in three dimensions: slabs of planes, a function for the update. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define AT(x, y, z) ((((z) * ny) + (y)) * nx + (x))

static void update(double *restrict to, const double *restrict from, int nx, int ny, int planes,
                   double k)
{
    for (int z = 1; z <= planes; ++z)
        for (int y = 1; y < ny - 1; ++y)
            for (int x = 1; x < nx - 1; ++x)
                to[AT(x, y, z)] = from[AT(x, y, z)] + k * (from[AT(x - 1, y, z)]
                    + from[AT(x + 1, y, z)] + from[AT(x, y - 1, z)] + from[AT(x, y + 1, z)]
                    + from[AT(x, y, z - 1)] + from[AT(x, y, z + 1)] - 6.0 * from[AT(x, y, z)]);
}

int main(int argc, char **argv)
{
    int me, np, nx, ny, nz, steps;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &np);
    nx = ny = nz = atoi(argv[1]);
    steps = atoi(argv[2]);
    int planes = nz / np, page = nx * ny;
    double *a = calloc((planes + 2) * page, sizeof *a), *b = calloc((planes + 2) * page, sizeof *b);
    if (me == 0)
        a[AT(nx / 2, ny / 2, 1)] = 100.0;
    for (int t = 0; t < steps; ++t) {
        MPI_Request q[4];
        int count = 0;
        if (me > 0) {
            MPI_Irecv(a, page, MPI_DOUBLE, me - 1, 1, MPI_COMM_WORLD, &q[count++]);
            MPI_Isend(a + page, page, MPI_DOUBLE, me - 1, 2, MPI_COMM_WORLD, &q[count++]);
        }
        if (me < np - 1) {
            MPI_Irecv(a + (planes + 1) * page, page, MPI_DOUBLE, me + 1, 2, MPI_COMM_WORLD,
                      &q[count++]);
            MPI_Isend(a + planes * page, page, MPI_DOUBLE, me + 1, 1, MPI_COMM_WORLD, &q[count++]);
        }
        MPI_Waitall(count, q, MPI_STATUSES_IGNORE);
        update(b, a, nx, ny, planes, 0.1);
        double *swap = a;
        a = b;
        b = swap;
    }
    double heat = 0.0, all;
    for (int i = page; i < (planes + 1) * page; ++i)
        heat += a[i];
    MPI_Reduce(&heat, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (me == 0)
        printf("%g\n", all);
    MPI_Finalize();
    return 0;
}
