/* A Fourier transform in two dimensions, by rows, a transposition, and rows again. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void transform(double *re, double *im, const double *c, const double *s, int n)
{
    for (int i = 1, j = 0; i < n; i++) {
        int bit = n / 2;
        for (; j >= bit; bit /= 2)
            j -= bit;
        j += bit;
        if (i < j) {
            double t = re[i];
            re[i] = re[j];
            re[j] = t;
            t = im[i];
            im[i] = im[j];
            im[j] = t;
        }
    }
    for (int half = 1; half < n; half *= 2) {
        int step = n / (2 * half);
        for (int base = 0; base < n; base += 2 * half)
            for (int k = 0; k < half; k++) {
                double wr = c[k * step], wi = s[k * step];
                double xr = re[base + half + k], xi = im[base + half + k];
                double tr = wr * xr - wi * xi, ti = wr * xi + wi * xr;
                re[base + half + k] = re[base + k] - tr;
                im[base + half + k] = im[base + k] - ti;
                re[base + k] += tr;
                im[base + k] += ti;
            }
    }
}

static void transpose(double *a, double *sent, double *got, int rows, int n, int size)
{
    for (int r = 0; r < size; r++)
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < rows; j++)
                sent[(r * rows + j) * rows + i] = a[i * n + r * rows + j];
    MPI_Alltoall(sent, rows * rows, MPI_DOUBLE, got, rows * rows, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < rows; j++)
                a[i * n + r * rows + j] = got[(r * rows + i) * rows + j];
}

int main(int argc, char **argv)
{
    int rank, size, n = atoi(argv[1]), turns = atoi(argv[2]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int rows = n / size;
    double *re = calloc((size_t)rows * n, sizeof(double)), *im = calloc((size_t)rows * n, 8);
    double *sent = calloc((size_t)rows * n, 8), *got = calloc((size_t)rows * n, 8);
    double *c = malloc(n * sizeof(double)), *s = malloc(n * sizeof(double));
    for (int k = 0; k < n; k++) {
        c[k] = cos(-6.283185307179586 * k / n);
        s[k] = sin(-6.283185307179586 * k / n);
    }
    for (int i = 0; i < rows * n; i++)
        re[i] = 1.0 / (i + 1);
    for (int turn = 0; turn < turns; turn++) {
        for (int i = 0; i < rows; i++)
            transform(re + i * n, im + i * n, c, s, n);
        transpose(re, sent, got, rows, n, size);
        transpose(im, sent, got, rows, n, size);
    }
    if (rank == 0)
        printf("%g\n", re[0]);
    MPI_Finalize();
    return 0;
}
