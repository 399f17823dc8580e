// Keeps what instructions record of themselves while a pass is executed: 16 bytes for each.
#pragma once

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { record_bytes = 16, records_wanted = 6000, records_room = 1 << 21, guard_bytes = 1 << 16 };

char* nhalf_trace_next;
static char* records;

// Records store without looking, so what comes after the room for them cannot be written.
static void stop_recording(int number, siginfo_t* signal_info, void* context) {
  (void)context;
  char* end = records + (size_t)records_room * record_bytes;
  char* reached = signal_info->si_addr;
  if (reached >= end && reached < end + guard_bytes) {
    static const char message[] = "more instructions than can be followed\n";
    _exit(write(2, message, sizeof message - 1) > 0 ? 1 : 2);
  }
  signal(number, SIG_DFL);
  raise(number);
}

__attribute__((constructor)) static void make_room(void) {
  size_t size = (size_t)records_room * record_bytes;
  records =
      mmap(NULL, size + guard_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (records == MAP_FAILED || mprotect(records + size, guard_bytes, PROT_NONE)) exit(1);
  struct sigaction action = {.sa_sigaction = stop_recording, .sa_flags = SA_SIGINFO};
  sigaction(SIGSEGV, &action, NULL);
  nhalf_trace_next = records;
}

// Executes a pass, so that data is as it usually is, and then so many that there are enough
// records. It writes these; the end of an object of JSON says how many passes and records they are.
static void trace_pass(void (*pass)(long), long n, void (*prepare)(void), const char* path) {
  FILE* file = fopen(path, "wb");
  if (!file) exit(1);
  prepare();
  nhalf_trace_next = records;
  pass(n);
  const size_t once = (size_t)(nhalf_trace_next - records) / record_bytes;
  const size_t passes = once ? 1 + records_wanted / once : 1;
  nhalf_trace_next = records;
  for (size_t i = 0; i < passes; i++) pass(n);
  size_t size = (size_t)(nhalf_trace_next - records);
  nhalf_trace_next = records;
  if (fwrite(records, 1, size, file) != size || fclose(file)) exit(1);
  printf("\"passes\":%zu,\"records\":%zu}\n", passes, size / record_bytes);
}
