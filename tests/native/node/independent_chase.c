// A pointer chase of its own: seconds of a load from this many bytes, the quickest of many turns.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum { line_bytes = 64, room_bytes = 1 << 21, loads = 20000, turns = 400 };

static double now_s(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int count, char** words) {
  char* room = aligned_alloc(room_bytes, room_bytes);
  if (count < 2 || !room) return 2;
  madvise(room, room_bytes, MADV_HUGEPAGE);
  const long lines = atol(words[1]) / line_bytes;
  long* order = malloc(sizeof(long) * (size_t)lines);
  if (!order || lines < 2) return 2;
  for (long i = 0; i < lines; i++) order[i] = i;
  for (long i = lines - 1; i > 0; i--) {
    const long other = random() % (i + 1), held = order[i];
    order[i] = order[other], order[other] = held;
  }
  // From each line to the next of the order, and from the last to the first.
  for (long i = 0; i < lines; i++)
    *(void**)(room + line_bytes * order[i]) = room + line_bytes * order[(i + 1) % lines];
  double least_s = 1;
  void* here = room;
  for (int turn = 0; turn < turns; turn++) {
    const double begin_s = now_s();
    for (long i = 0; i < loads; i++) here = *(void* volatile*)here;
    const double spent_s = (now_s() - begin_s) / loads;
    if (spent_s < least_s) least_s = spent_s;
  }
  printf("%.5e\n", here ? least_s : 0);
  return 0;
}
