/* Bodies that attract each other; copies go around a ring of ranks. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    double x, y, z, mass;
} Body;

int main(int argc, char **argv)
{
    int rank, size, n = atoi(argv[1]), steps = atoi(argv[2]);
    MPI_Datatype body;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_contiguous(4, MPI_DOUBLE, &body);
    MPI_Type_commit(&body);
    int own = n / size;
    Body *here = malloc(own * sizeof(Body)), *guests = malloc(own * sizeof(Body));
    double *force = malloc(3 * own * sizeof(double));
    for (int i = 0; i < own; i++) {
        here[i].x = rank + 0.1 * i;
        here[i].y = 0.3 * i;
        here[i].z = 1.0 / (i + 1);
        here[i].mass = 1.0;
    }
    for (int step = 0; step < steps; step++) {
        for (int i = 0; i < 3 * own; i++)
            force[i] = 0.0;
        for (int i = 0; i < own; i++)
            guests[i] = here[i];
        for (int turn = 0; turn < size; turn++) {
            for (int i = 0; i < own; i++) {
                double fx = 0.0, fy = 0.0, fz = 0.0;
                for (int j = 0; j < own; j++) {
                    double dx = guests[j].x - here[i].x;
                    double dy = guests[j].y - here[i].y;
                    double dz = guests[j].z - here[i].z;
                    double d2 = dx * dx + dy * dy + dz * dz + 1e-6;
                    double f = guests[j].mass / (d2 * sqrt(d2));
                    fx += f * dx;
                    fy += f * dy;
                    fz += f * dz;
                }
                force[3 * i] += fx;
                force[3 * i + 1] += fy;
                force[3 * i + 2] += fz;
            }
            MPI_Sendrecv_replace(guests, own, body, (rank + 1) % size, 0, (rank + size - 1) % size,
                                 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        for (int i = 0; i < own; i++) {
            here[i].x += 1e-4 * force[3 * i];
            here[i].y += 1e-4 * force[3 * i + 1];
            here[i].z += 1e-4 * force[3 * i + 2];
        }
    }
    if (rank == 0)
        printf("%g\n", here[0].x);
    MPI_Finalize();
    return 0;
}
