// Much of what a tracer keeps: operations, groups, requests or threads, argument 2 of them. Says
// how many bytes of memory the process has at its end.
#include <mpi.h>

#include <atomic>
#include <fstream>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

namespace {

long memory_kib() {
  std::ifstream file("/proc/self/status");
  long value = 0;
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("VmRSS:")) value = std::stol(line.substr(6));
  return value;
}

/// Operations of as many sizes, which move nothing.
void sizes(int number) {
  std::vector<char> data(static_cast<std::size_t>(number));
  for (int size = 1; size <= number; ++size)
    MPI_Bcast(data.data(), size, MPI_CHAR, 0, MPI_COMM_SELF);
}

/// As many communicators, all of which are kept.
void groups(int number) {
  std::vector<MPI_Comm> made(static_cast<std::size_t>(number));
  for (auto& one : made) {
    MPI_Comm_dup(MPI_COMM_WORLD, &one);
    MPI_Barrier(one);
  }
  for (auto& one : made) MPI_Comm_free(&one);
}

/// As many communicators, one after the other.
void turns(int number) {
  for (int turn = 0; turn < number; ++turn) {
    MPI_Comm one{};
    MPI_Comm_dup(MPI_COMM_SELF, &one);
    MPI_Barrier(one);
    MPI_Comm_free(&one);
  }
}

/// As many receives under way.
void receives(int number) {
  std::vector<MPI_Request> begun(static_cast<std::size_t>(number));
  char sent = 0;
  char received = 0;
  for (auto& one : begun) MPI_Irecv(&received, 1, MPI_CHAR, 0, 0, MPI_COMM_SELF, &one);
  for (int message = 0; message < number; ++message)
    MPI_Send(&sent, 1, MPI_CHAR, 0, 0, MPI_COMM_SELF);
  MPI_Waitall(number, begun.data(), MPI_STATUSES_IGNORE);
}

/// As many threads that are there at once, with a call of each.
void threads(int number) {
  std::atomic<int> left{number};
  std::vector<std::thread> all;
  for (int thread = 0; thread < number; ++thread)
    all.emplace_back([&] {
      MPI_Send(nullptr, 0, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
      left.fetch_sub(1);
      left.notify_all();
      for (int others = left.load(); others > 0; others = left.load()) left.wait(others);
    });
  for (auto& one : all) one.join();
}

}  // namespace

int main(int count, char** words) {
  int provided = 0;
  MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &provided);
  for (int at = 1; at + 1 < count; at += 2) {
    const std::string what = words[at];
    const int number = std::stoi(words[at + 1]);
    if (what == "sizes") sizes(number);
    if (what == "groups") groups(number);
    if (what == "turns") turns(number);
    if (what == "receives") receives(number);
    if (what == "threads") threads(number);
  }
  std::cout << "memory " << memory_kib() << " KiB" << std::endl;
  MPI_Finalize();
}
