// As much of an MPI library as a program of a few calls needs, with prototypes of its own: MPI_ in
// one file and PMPI_ in the same or another one, as some libraries are built.
#include <cstring>

extern "C" {
#if defined(PROFILED)
int PMPI_Get_library_version(char* text, int* length) {
  std::strcpy(text, VERSION);
  *length = static_cast<int>(std::strlen(text));
  return 0;
}
int PMPI_Init(int* /*count*/, char*** /*words*/) {
  return 0;
}
int PMPI_Barrier(long comm) {
  return comm == 0x123456789abcdef ? 0 : 1;
}
int PMPI_Finalize() {
  return 0;
}
#else
int PMPI_Get_library_version(char* text, int* length);
int PMPI_Init(int* count, char*** words);
int PMPI_Barrier(long comm);
int PMPI_Finalize();
#endif
#if defined(CALLED)
int MPI_Get_library_version(char* text, int* length) {
  return PMPI_Get_library_version(text, length);
}
int MPI_Init(int* count, char*** words) {
  return PMPI_Init(count, words);
}
int MPI_Barrier(long comm) {
  return PMPI_Barrier(comm);
}
int MPI_Finalize() {
  return PMPI_Finalize();
}
#endif
#if defined(PROGRAM)
int MPI_Init(int* count, char*** words);
int MPI_Barrier(long comm);
int MPI_Finalize();
#endif
}

#if defined(PROGRAM)
/// A handle of 64 bits has to arrive whole.
int main(int count, char** words) {
  MPI_Init(&count, &words);
  const int error = MPI_Barrier(0x123456789abcdef);
  MPI_Finalize();
  return error;
}
#endif
