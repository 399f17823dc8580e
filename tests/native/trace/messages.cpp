// Messages of every kind between two halves of a communicator, each once and of a size of its own.
#include <mpi.h>

#include <array>
#include <vector>

namespace {

std::array<char, 4096> out{};
std::array<char, 4096> in{};

void modes(int rank, int other) {
  std::vector<char> buffer(8192 + MPI_BSEND_OVERHEAD);
  MPI_Buffer_attach(buffer.data(), static_cast<int>(buffer.size()));
  MPI_Request request = MPI_REQUEST_NULL;
  std::array<MPI_Request, 4> requests{};
  for (int from = 0; from < 2; ++from) {
    if (rank % 2 == from) {
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Send(out.data(), 1, MPI_CHAR, other, 0, MPI_COMM_WORLD);
      MPI_Bsend(out.data(), 2, MPI_CHAR, other, 0, MPI_COMM_WORLD);
      MPI_Ssend(out.data(), 3, MPI_CHAR, other, 0, MPI_COMM_WORLD);
      MPI_Rsend(out.data(), 4, MPI_CHAR, other, 1, MPI_COMM_WORLD);
      MPI_Isend(out.data(), 5, MPI_CHAR, other, 0, MPI_COMM_WORLD, &requests[0]);
      MPI_Ibsend(out.data(), 6, MPI_CHAR, other, 0, MPI_COMM_WORLD, &requests[1]);
      MPI_Issend(out.data(), 7, MPI_CHAR, other, 0, MPI_COMM_WORLD, &requests[2]);
      MPI_Irsend(out.data(), 8, MPI_CHAR, other, 2, MPI_COMM_WORLD, &requests[3]);
      MPI_Waitall(4, requests.data(), MPI_STATUSES_IGNORE);
    } else {
      MPI_Irecv(in.data(), 4096, MPI_CHAR, other, 1, MPI_COMM_WORLD, &request);
      MPI_Irecv(in.data() + 64, 4000, MPI_CHAR, other, 2, MPI_COMM_WORLD, &requests[0]);
      MPI_Barrier(MPI_COMM_WORLD);
      for (int number = 0; number < 6; ++number)
        MPI_Recv(in.data() + 128, 3000, MPI_CHAR, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    }
  }
  int bytes = 0;
  void* back = nullptr;
  MPI_Buffer_detach(&back, &bytes);
}

void persistent(int other) {
  std::array<MPI_Request, 2> requests{};
  MPI_Recv_init(in.data(), 100, MPI_CHAR, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &requests[0]);
  MPI_Send_init(out.data(), 11, MPI_CHAR, other, 3, MPI_COMM_WORLD, &requests[1]);
  for (int time = 0; time < 5; ++time) {
    MPI_Startall(2, requests.data());
    MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
  }
  // A wait for what was not started again brings nothing.
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

void probed(int other) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isend(out.data(), 13, MPI_CHAR, other, 4, MPI_COMM_WORLD, &request);
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  MPI_Mprobe(MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &message, &status);
  MPI_Mrecv(in.data(), 100, MPI_CHAR, &message, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Isend(out.data(), 14, MPI_CHAR, other, 4, MPI_COMM_WORLD, &request);
  MPI_Mprobe(MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
  MPI_Request receive = MPI_REQUEST_NULL;
  MPI_Imrecv(in.data(), 100, MPI_CHAR, &message, &receive);
  MPI_Wait(&receive, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

void waited(int other) {
  std::array<MPI_Request, 6> requests{};
  for (int number = 0; number < 3; ++number)
    MPI_Irecv(in.data() + 100 * number, 100, MPI_CHAR, other, 5, MPI_COMM_WORLD,
              &requests[static_cast<std::size_t>(number)]);
  for (int number = 3; number < 6; ++number)
    MPI_Isend(out.data(), 17 + number, MPI_CHAR, other, 5, MPI_COMM_WORLD,
              &requests[static_cast<std::size_t>(number)]);
  int index = 0;
  MPI_Waitany(6, requests.data(), &index, MPI_STATUS_IGNORE);
  std::array<int, 6> indices{};
  int done = 0;
  MPI_Waitsome(6, requests.data(), &done, indices.data(), MPI_STATUSES_IGNORE);
  int flag = 0;
  MPI_Testany(6, requests.data(), &index, &flag, MPI_STATUS_IGNORE);
  flag = 0;
  while (flag == 0) MPI_Testall(6, requests.data(), &flag, MPI_STATUSES_IGNORE);
}

void typed(int other) {
  MPI_Datatype column = MPI_DATATYPE_NULL;
  MPI_Type_vector(4, 1, 8, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  MPI_Sendrecv(out.data(), 2, column, other, 6, in.data(), 64, MPI_DOUBLE, MPI_ANY_SOURCE, 6,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Type_free(&column);
  MPI_Type_contiguous(3, MPI_CHAR, &column);
  MPI_Type_commit(&column);
  MPI_Sendrecv_replace(in.data(), 5, column, other, 7, other, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Type_free(&column);
}

/// Between the even and the odd ranks; partners are ranks of the other group.
void between(int rank, int size) {
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm both = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 8, &both);
  MPI_Sendrecv(out.data(), 19, MPI_CHAR, rank / 2, 9, in.data(), 100, MPI_CHAR, MPI_ANY_SOURCE, 9,
               both, MPI_STATUS_IGNORE);
  static_cast<void>(size);
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

void cancelled() {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(in.data(), 100, MPI_CHAR, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

}  // namespace

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int other = rank ^ 1;
  modes(rank, other);
  persistent(other);
  probed(other);
  waited(other);
  typed(other);
  between(rank, size);
  cancelled();
  MPI_Finalize();
}
