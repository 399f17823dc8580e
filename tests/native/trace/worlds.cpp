// What programs seldom do: sessions, worlds that are spawned, messages in parts, views of files,
// children that are forked, a second MPI library.
// Argument 1 says which.
#include <dlfcn.h>
#include <mpi.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>

namespace {

void sessions() {
  MPI_Session session = MPI_SESSION_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm all = MPI_COMM_NULL;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "nhalf", MPI_INFO_NULL, MPI_ERRORS_RETURN, &all);
  MPI_Group_free(&group);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(all, &rank);
  MPI_Comm_size(all, &size);
  std::array<char, 16> data{};
  MPI_Sendrecv_replace(data.data(), 11, MPI_CHAR, (rank + 1) % size, 1, (rank + size - 1) % size, 1,
                       all, MPI_STATUS_IGNORE);
  MPI_Barrier(all);
  MPI_Comm_free(&all);
  MPI_Session_finalize(&session);
}

void parts(int rank, int size) {
  std::array<char, 24> out{};
  std::array<char, 24> in{};
  std::array<MPI_Request, 2> requests{};
  MPI_Psend_init(out.data(), 4, 6, MPI_CHAR, (rank + 1) % size, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                 &requests[0]);
  MPI_Precv_init(in.data(), 4, 6, MPI_CHAR, (rank + size - 1) % size, 1, MPI_COMM_WORLD,
                 MPI_INFO_NULL, &requests[1]);
  for (int round = 0; round < 3; ++round) {
    MPI_Startall(2, requests.data());
    for (int part = 0; part < 4; ++part) MPI_Pready(part, requests[0]);
    MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

void file(int rank, const char* path) {
  MPI_File opened = MPI_FILE_NULL;
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &opened);
  MPI_File_set_view(opened, 4 * rank, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL);
  std::array<char, 4> data{};
  MPI_File_write_all(opened, data.data(), 4, MPI_CHAR, MPI_STATUS_IGNORE);
  MPI_File_close(&opened);
  MPI_Barrier(MPI_COMM_WORLD);
}

void spawned(int rank, char* program) {
  MPI_Comm between = MPI_COMM_NULL;
  char child[] = "child";
  std::array<char*, 2> words{child, nullptr};
  MPI_Comm_spawn(program, words.data(), 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between,
                 MPI_ERRCODES_IGNORE);
  std::array<char, 9> data{};
  if (rank == 0) MPI_Send(data.data(), 9, MPI_CHAR, 1, 1, between);
  MPI_Comm_disconnect(&between);
}

void child(int rank, MPI_Comm parent) {
  std::array<char, 9> data{};
  if (rank == 1) MPI_Recv(data.data(), 9, MPI_CHAR, 0, 1, parent, MPI_STATUS_IGNORE);
  MPI_Comm_disconnect(&parent);
}

void nowhere(int number) {
  for (int message = 0; message < number; ++message)
    MPI_Send(nullptr, 0, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
}

/// The child calls what it must not, and ends without a word.
void forked() {
  nowhere(2);
  const pid_t child = fork();
  if (child == 0) {
    nowhere(100);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  nowhere(1);
}

}  // namespace

int main(int count, char** words) {
  const char* what = words[1];
  if (std::strcmp(what, "sessions") == 0) {
    // One after the other, each with handles that the last one may have had.
    sessions();
    sessions();
    return 0;
  }
  if (std::strcmp(what, "two") == 0 && dlopen(words[2], RTLD_LAZY | RTLD_LOCAL) == nullptr)
    return 4;
  MPI_Init(&count, &words);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm parent = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL)
    child(rank, parent);
  else if (std::strcmp(what, "parts") == 0)
    parts(rank, size);
  else if (std::strcmp(what, "file") == 0)
    file(rank, words[2]);
  else if (std::strcmp(what, "fork") == 0 || std::strcmp(what, "two") == 0)
    forked();
  else
    spawned(rank, words[0]);
  MPI_Finalize();
  return 0;
}
