// A preloaded library with the faults that sanitizers are to report: memory that is read after it
// was freed, and two threads that write one number.
#include <cstdlib>
#include <thread>

namespace {

int number = 0;

__attribute__((constructor)) void break_rules() {
  auto* freed = static_cast<volatile int*>(std::malloc(sizeof number));
  std::free(const_cast<int*>(freed));
  number = *freed;
  std::thread first([] { number = 1; });
  std::thread second([] { number = 2; });
  first.join();
  second.join();
}

}  // namespace
