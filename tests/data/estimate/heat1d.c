#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 3) {
        if (rank == 0) fprintf(stderr, "usage: heat1d N STEPS\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    long n = atol(argv[1]);
    int steps = atoi(argv[2]);
    long local = n / size + (rank < n % size ? 1 : 0);
    double *old = malloc((local + 2) * sizeof(double)), *new = malloc((local + 2) * sizeof(double));
    for (long i = 0; i < local + 2; i++) old[i] = new[i] = (double)rank;
    int left = rank == 0 ? MPI_PROC_NULL : rank - 1;
    int right = rank == size - 1 ? MPI_PROC_NULL : rank + 1;
    for (int step = 0; step < steps; ++step) {
        MPI_Request req[4];
        MPI_Irecv(&old[0], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &req[0]);
        MPI_Irecv(&old[local + 1], 1, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &req[1]);
        MPI_Isend(&old[1], 1, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &req[2]);
        MPI_Isend(&old[local], 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &req[3]);
        for (long i = 2; i < local; i++)
            new[i] = old[i] + 0.1 * (old[i - 1] - 2.0 * old[i] + old[i + 1]);
        MPI_Waitall(4, req, MPI_STATUSES_IGNORE);
        new[1] = old[1] + 0.1 * (old[0] - 2.0 * old[1] + old[2]);
        new[local] = old[local] + 0.1 * (old[local - 1] - 2.0 * old[local] + old[local + 1]);
        double *t = old;
        old = new;
        new = t;
    }
    double sum = 0, total;
    for (long i = 1; i <= local; i++) sum += old[i];
    MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%g\n", total);
    MPI_Finalize();
    return 0;
}
