// The core on which the next rank runs. One rank runs at a time: on the core of the one before it
// starts at once, while a core that sleeps has to be woken first. Outside its waits a rank may run
// where it was allowed to, and so may the threads that it starts.
#pragma once

#include <sched.h>
#include <unistd.h>

namespace nhalf::fabric {

/// The cores that the calling thread may use, if they are few enough to be told.
class OwnCores {
 public:
  OwnCores() : is_told_(sched_getaffinity(0, sizeof(cores_), &cores_) == 0) {}

  [[nodiscard]] bool is_told() const { return is_told_; }
  /// Allows them again. It fails only if they are gone, and then the kernel chooses others.
  void restore() const { static_cast<void>(sched_setaffinity(0, sizeof(cores_), &cores_)); }

 private:
  cpu_set_t cores_{};
  bool is_told_;
};

/// Moves a thread that sleeps to this core; whether it may be there.
inline bool move_here(pid_t thread) {
  const int core = sched_getcpu();
  if (core < 0 || core >= CPU_SETSIZE) return false;
  cpu_set_t own_core;
  CPU_ZERO(&own_core);
  CPU_SET(core, &own_core);
  return sched_setaffinity(thread, sizeof(own_core), &own_core) == 0;
}

}  // namespace nhalf::fabric
