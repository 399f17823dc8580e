// A library that calls MPI for a program in Python; calls.py is that program.
#include <mpi.h>
#include <unistd.h>

#include <atomic>
#include <thread>

namespace {

std::atomic<bool> is_receiving{false};

}  // namespace

extern "C" {

MPI_Comm start() {
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
  return MPI_COMM_WORLD;
}

void exchange() {
  MPI_Barrier(MPI_COMM_WORLD);  // from Python
}

/// Calls from a thread that Python does not know.
void exchange_aside() {
  std::thread([] {
    MPI_Barrier(MPI_COMM_WORLD);  // aside
  }).join();
}

/// Waits for a message, which late_send sends when this waits.
void receive() {
  int value = 0;
  is_receiving = true;
  MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);  // from Python
}

void late_send() {
  while (!is_receiving) usleep(1000);
  usleep(20'000);
  const int value = 1;
  MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF);  // from Python
}

void stop() {
  MPI_Finalize();
}
}
