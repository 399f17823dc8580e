// An unchanged MPI program that revokes communicators in which its other ranks wait. Exit 1 where a
// wait ends without an error; one that does not end is for whoever starts it to end.
#include <mpi.h>

#include <cstdio>

// It needs what stands above.
#include <mpi-ext.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, failures = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const auto give_up = [&](auto wait) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    double value = 1, sum = 0;
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
    if (rank == 1) {
      MPIX_Comm_revoke(comm);
    } else if (wait(comm) == MPI_SUCCESS) {
      ++failures;
    }
    // Nor does the next one wait.
    if (MPI_Barrier(comm) == MPI_SUCCESS) ++failures;
    MPI_Comm_free(&comm);
  };
  double data[4096] = {};
  give_up([](MPI_Comm comm) { return MPI_Barrier(comm); });
  give_up([&](MPI_Comm comm) { return MPI_Bcast(data, 4, MPI_DOUBLE, 1, comm); });
  give_up([&](MPI_Comm comm) { return MPI_Bcast(data, 4096, MPI_DOUBLE, 1, comm); });
  std::printf("rank %d: %d wrong\n", rank, failures);
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
