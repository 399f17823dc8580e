// Two ranks that exchange one message, for libraries whose probe is not compiled yet: this one is
// compiled in a second. It says in the words of a probe which cores its ranks may use.
#include <mpi.h>
#include <sched.h>

#include <cstdio>

#include "contract/vocabulary.hpp"

namespace {
/// The numbers of this rank's cores, separated by commas.
std::string allowed_cpus() {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  sched_getaffinity(0, sizeof mine, &mine);
  std::string text;
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &mine)) text += (text.empty() ? "" : ",") + std::to_string(core);
  return text;
}

/// Every rank's text, at rank 0.
std::vector<std::string> gathered(const std::string& text, int rank, int ranks) {
  constexpr int room = 8192;
  std::vector<char> mine(room), all(rank == 0 ? static_cast<std::size_t>(room) * ranks : 0);
  text.copy(mine.data(), room - 1);
  MPI_Gather(mine.data(), room, MPI_CHAR, all.data(), room, MPI_CHAR, 0, MPI_COMM_WORLD);
  std::vector<std::string> names;
  for (std::size_t at = 0; at < all.size(); at += room) names.emplace_back(all.data() + at);
  return names;
}

/// Whether a number comes back from rank 1 one larger; at rank 0.
bool is_answered(int rank, int ranks) {
  int number = 41;
  if (ranks < 2 || rank > 1) return false;
  if (rank == 0) {
    MPI_Send(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    ++number;
    MPI_Send(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
  return number == 42;
}

std::string library_version() {
  std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  text.resize(static_cast<std::size_t>(length));
  return text.substr(0, text.find_first_of("\n\"\\"));
}
}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const auto places = gathered(allowed_cpus(), rank, ranks);
  const bool right = is_answered(rank, ranks);
  if (rank == 0) {
    std::printf(R"({"nhalf":"launch","library":"%s","placement":[)", library_version().c_str());
    for (std::size_t i = 0; i < places.size(); ++i)
      std::printf(R"(%s{"rank":%zu,"allowed_cpus":[%s]})", i > 0 ? "," : "", i, places[i].c_str());
    std::printf("]}\n{\"nhalf\":\"point\",\"verified\":%s}\n", right ? "true" : "false");
    std::fflush(stdout);
  }
  MPI_Finalize();
}
