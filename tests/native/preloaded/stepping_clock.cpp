// Preloaded: the clock of the day steps, a while after it was first read, by as many seconds as
// STEP_S says.
#include <dlfcn.h>

#include <cstdlib>
#include <ctime>

extern "C" __attribute__((visibility("default"))) int clock_gettime(clockid_t clock,
                                                                    timespec* now) {
  using Function = int (*)(clockid_t, timespec*);
  static const auto original = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "clock_gettime"));
  static const char* const step_s = std::getenv("STEP_S");
  static const time_t first_s = [] {
    timespec then{};
    original(CLOCK_MONOTONIC, &then);
    return then.tv_sec;
  }();
  const int error = original(clock, now);
  timespec steady{};
  original(CLOCK_MONOTONIC, &steady);
  if (clock == CLOCK_REALTIME && step_s != nullptr && steady.tv_sec > first_s + 1)
    now->tv_sec += std::atoi(step_s);
  return error;
}
