// Asks a library that is made up here and faults when its third variable is read, as one whose
// components are closed; meanwhile another thread faults in memory that the program's own handler
// provides. No call of MPI is made.
#include <sys/mman.h>

#include <atomic>
#include <cstdio>
#include <thread>

#include "transports/mpi/tool.hpp"

namespace {
constexpr std::size_t page_bytes = 4096;
char* closed = nullptr;
char* lazy = nullptr;
std::atomic<int> provided{0};

void provide(int, siginfo_t*, void*) {
  provided += mprotect(lazy, page_bytes, PROT_READ | PROT_WRITE) == 0;
}

int begin(int, int*) {
  return MPI_SUCCESS;
}
int count(int* number) {
  *number = 4;
  return MPI_SUCCESS;
}
int about(int number, char* name, int*, int*, MPI_Datatype* type, MPI_T_enum*, char*, int*,
          int* binding, int*) {
  std::snprintf(name, 256, "btl_made%d_eager_limit", number);
  *type = MPI_INT;
  *binding = MPI_T_BIND_NO_OBJECT;
  return MPI_SUCCESS;
}
int take(int number, void*, MPI_T_cvar_handle* handle, int* items) {
  *handle = reinterpret_cast<MPI_T_cvar_handle>(static_cast<std::uintptr_t>(number + 1));
  *items = 1;
  return MPI_SUCCESS;
}
int give(MPI_T_cvar_handle*) {
  return MPI_SUCCESS;
}
int read(MPI_T_cvar_handle handle, void* value) {
  const auto number = static_cast<int>(reinterpret_cast<std::uintptr_t>(handle)) - 1;
  if (number == 1) std::thread([] { lazy[0] = 1; }).join();
  *static_cast<int*>(value) = number == 2 ? *reinterpret_cast<int*>(closed) : 4096 + number;
  return MPI_SUCCESS;
}

void* find(const char* symbol) {
  const std::string_view name = symbol;
  if (name == "MPI_T_init_thread") return reinterpret_cast<void*>(&begin);
  if (name == "MPI_T_cvar_get_num" || name == "MPI_T_pvar_get_num")
    return reinterpret_cast<void*>(&count);
  if (name == "MPI_T_cvar_get_info") return reinterpret_cast<void*>(&about);
  if (name == "MPI_T_cvar_handle_alloc") return reinterpret_cast<void*>(&take);
  if (name == "MPI_T_cvar_handle_free") return reinterpret_cast<void*>(&give);
  if (name == "MPI_T_cvar_read") return reinterpret_cast<void*>(&read);
  return name == "MPI_T_pvar_read" ? reinterpret_cast<void*>(&read) : nullptr;
}
}  // namespace

int main() {
  const auto pages = mmap(nullptr, 2 * page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  closed = static_cast<char*>(pages);
  lazy = closed + page_bytes;
  struct sigaction own{};
  own.sa_sigaction = &provide;
  own.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &own, nullptr);
  const auto report = nhalf::MpiTool::report(&find);
  for (const auto& [name, text] : report.variables)
    std::printf("%s %s\n", name.c_str(), text.c_str());
  struct sigaction after{};
  sigaction(SIGSEGV, nullptr, &after);
  std::printf("%d provided, handler %s\n", provided.load(),
              after.sa_sigaction == &provide ? "kept" : "lost");
}
