// Calls of MPI that are left without their end, by an exception or a jump out of an error handler,
// and calls from what MPI calls back: ranks send in pairs messages of which each way has its size.
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <thread>

namespace {

int rank = 0;
sigjmp_buf place;
std::array<char, 4096> data{};
std::array<char, 262144> other_stack{};
ucontext_t outside;
ucontext_t fiber;

enum class By { exception, jump, signal };
By way = By::exception;

void leave(MPI_Comm* /*unused*/, int* /*unused*/, ...) {
  if (way == By::exception) throw std::runtime_error("out of a handler");
  if (way == By::jump) siglongjmp(place, 1);
  raise(SIGUSR1);
}

/// Swaps messages with the other rank of the pair.
void swap(int bytes) {
  MPI_Sendrecv(data.data(), bytes, MPI_CHAR, rank ^ 1, 1, data.data() + 2048, bytes, MPI_CHAR,
               rank ^ 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

template <int bytes>
[[gnu::noinline]] void swap_below(int size) {
  volatile char room[bytes];
  room[0] = static_cast<char>(size);
  swap(size);
  room[bytes - 1] = room[0];
}

template <int bytes>
[[gnu::noinline]] void fail_below() {
  volatile char room[bytes];
  room[0] = 1;
  MPI_Send(data.data(), 1, MPI_CHAR, 99, 1, MPI_COMM_WORLD);
  room[bytes - 1] = room[0];
}

/// Leaves some calls one way, then makes calls from the same place, and from far below.
void left(By by, int size, void (*failing)()) {
  way = by;
  static int failed;
  for (failed = 0; failed < 3; ++failed) {
    if (by == By::exception) {
      try {
        failing();
      } catch (const std::runtime_error&) {
      }
    } else if (sigsetjmp(place, 1) == 0) {
      failing();
    }
  }
  swap(size);
  swap_below<16>(size);
  swap_below<100'000>(size);
  for (int time = 0; time < 7; ++time) swap(size);
}

void on_stack_of_its_own() {
  stack_t stack{};
  stack.ss_sp = other_stack.data();
  stack.ss_size = other_stack.size();
  sigaltstack(&stack, nullptr);
  struct sigaction action{};
  action.sa_handler = [](int) { siglongjmp(place, 1); };
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR1, &action, nullptr);
}

int copied(MPI_Comm /*unused*/, int /*unused*/, void* state, void* value, void* result, int* flag) {
  std::memcpy(result, &value, sizeof value);
  *flag = 1;
  if (state == nullptr) {
    // Within the call.
    swap(1);
    return MPI_SUCCESS;
  }
  swapcontext(&outside, &fiber);
  swap(1);
  return MPI_SUCCESS;
}

/// Duplicates a communicator whose attribute calls back.
void call_back(void* state) {
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm again = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_keyval(&copied, MPI_COMM_NULL_DELETE_FN, &key, state);
  MPI_Comm_set_attr(comm, key, nullptr);
  MPI_Comm_dup(comm, &again);
  MPI_Comm_free(&again);
  MPI_Comm_free(&comm);
  MPI_Comm_free_keyval(&key);
}

void in_fiber() {
  swap(500);
  swap(500);
  swapcontext(&fiber, &outside);
}

void all() {
  left(By::exception, 100, &fail_below<16>);
  left(By::exception, 101, &fail_below<50'000>);
  left(By::jump, 200, &fail_below<16>);
  left(By::jump, 201, &fail_below<2'000>);
  left(By::jump, 202, &fail_below<50'000>);
  on_stack_of_its_own();
  left(By::signal, 300, &fail_below<16>);
  left(By::signal, 301, &fail_below<50'000>);
}

}  // namespace

int main(int count, char** words) {
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&count, &words, MPI_THREAD_SERIALIZED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(&leave, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  if (std::strcmp(words[1], "thread") == 0)
    std::thread(&all).join();
  else
    all();
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  call_back(nullptr);
  getcontext(&fiber);
  fiber.uc_stack.ss_sp = other_stack.data();
  fiber.uc_stack.ss_size = other_stack.size();
  makecontext(&fiber, &in_fiber, 0);
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
  call_back(&rank);
  swap(600);
  MPI_Finalize();
  if (rank == 0) std::puts("all calls left");
  return 0;
}
