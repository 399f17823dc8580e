/* Conjugate gradients for the second difference in one dimension, a fixed number of steps. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double dot(const double *a, const double *b, int n)
{
    double sum = 0.0, total;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return total;
}

int main(int argc, char **argv)
{
    int rank, size, n = atoi(argv[1]), steps = atoi(argv[2]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int own = n / size;
    int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    int right = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    double *x = calloc(own, sizeof(double)), *r = calloc(own, sizeof(double));
    double *p = calloc(own + 2, sizeof(double)), *q = calloc(own, sizeof(double));
    for (int i = 0; i < own; i++) {
        r[i] = 1.0;
        p[i + 1] = 1.0;
    }
    double rho = dot(r, r, own);
    for (int step = 0; step < steps; step++) {
        MPI_Sendrecv(&p[own], 1, MPI_DOUBLE, right, 1, &p[0], 1, MPI_DOUBLE, left, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(&p[1], 1, MPI_DOUBLE, left, 2, &p[own + 1], 1, MPI_DOUBLE, right, 2,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 1; i <= own; i++)
            q[i - 1] = 2.0 * p[i] - p[i - 1] - p[i + 1];
        double alpha = rho / dot(p + 1, q, own);
        for (int i = 0; i < own; i++) {
            x[i] += alpha * p[i + 1];
            r[i] -= alpha * q[i];
        }
        double next = dot(r, r, own), beta = next / rho;
        rho = next;
        for (int i = 0; i < own; i++)
            p[i + 1] = r[i] + beta * p[i + 1];
    }
    if (rank == 0)
        printf("%g\n", rho);
    MPI_Finalize();
    return 0;
}
