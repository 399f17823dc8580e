// Preloaded into a probe: threads that are bound to one core need longer there, by a factor.
//
// A timer of each such thread interrupts it every 2 ms; its handler spins for a part of that, so
// that the thread itself loses the time, as to interrupts or to a clock that is held down. A thread
// that is stopped from outside gives up its core instead, and has to wait to get it back.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum { PERIOD_NS = 2000000, LOOKS = 400, LOOK_NS = 10000000 };

static long spin_ns;
static int slow_core;

static long now_ns(void) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return now.tv_sec * 1000000000L + now.tv_nsec;
}

static void spin(int signal) {
  (void)signal;
  const int before = errno;
  const long end_ns = now_ns() + spin_ns;
  while (now_ns() < end_ns) {
  }
  errno = before;
}

static int is_bound(pid_t thread) {
  cpu_set_t cores;
  return sched_getaffinity(thread, sizeof(cores), &cores) == 0 && CPU_COUNT(&cores) == 1 &&
         CPU_ISSET(slow_core, &cores);
}

static void interrupt(pid_t thread) {
  struct sigevent event;
  memset(&event, 0, sizeof(event));
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGUSR2;
  event.sigev_notify_thread_id = thread;
  timer_t timer;
  const struct itimerspec often = {{0, PERIOD_NS}, {0, PERIOD_NS}};
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0) timer_settime(timer, 0, &often, NULL);
}

// Ranks are bound a while after the program began.
static void* watch(void* unused) {
  const struct timespec pause = {0, LOOK_NS};
  for (int look = 0; look < LOOKS; ++look) {
    DIR* threads = opendir("/proc/self/task");
    for (struct dirent* entry; threads != NULL && (entry = readdir(threads)) != NULL;) {
      const pid_t thread = (pid_t)atoi(entry->d_name);
      if (thread > 0 && thread != gettid() && is_bound(thread)) {
        interrupt(thread);
        closedir(threads);
        return unused;
      }
    }
    if (threads != NULL) closedir(threads);
    nanosleep(&pause, NULL);
  }
  return unused;
}

__attribute__((constructor)) static void begin(void) {
  const char* core = getenv("SLOW_CORE");
  const char* factor = getenv("SLOW_FACTOR");
  if (core == NULL || factor == NULL) return;
  if (strncmp(program_invocation_short_name, "probe-", 6) != 0) return;
  slow_core = atoi(core);
  spin_ns = (long)(PERIOD_NS * (1 - 1 / atof(factor)));
  struct sigaction action;
  memset(&action, 0, sizeof(action));
  action.sa_handler = spin;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR2, &action, NULL);
  pthread_t watcher;
  pthread_create(&watcher, NULL, watch, NULL);
}
