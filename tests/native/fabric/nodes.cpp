// Prints for each rank which ranks its library takes for those of its node.
#include <mpi.h>

#include <cstdio>
#include <string>
#include <vector>

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  int size = 0;
  MPI_Comm_size(node, &size);
  std::vector<int> mates(static_cast<std::size_t>(size));
  MPI_Allgather(&rank, 1, MPI_INT, mates.data(), 1, MPI_INT, node);
  std::string line = std::to_string(rank) + ":";
  for (const int mate : mates) line += " " + std::to_string(mate);
  // In one piece: ranks write to one pipe, without buffers of their own.
  line += "\n";
  std::fputs(line.c_str(), stdout);
  MPI_Comm_free(&node);
  MPI_Finalize();
}
