// The time of a loop, with the cycle time of the processor and a test whether the core is shared.
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

// Returns the CPU time of the process, which may share its core with others.
static double now_s(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// Cycles a second: additions that wait for each other take one each on every processor.
static double clock_hz(void) {
#if defined(__x86_64__) || defined(__aarch64__)
  long chain = 1, steps = 20000;
  double begin = now_s();
  for (long i = 0; i < steps; i++) {
#if defined(__x86_64__)
#define ADD "add %0, %0\n\t"
#else
#define ADD "add %0, %0, %0\n\t"
#endif
#define ADD5 ADD ADD ADD ADD ADD
    __asm__ volatile(ADD5 ADD5 ADD5 ADD5 ADD5 ADD5 ADD5 ADD5 ADD5 ADD5 : "+r"(chain));
  }
  return 50.0 * (double)steps / (now_s() - begin);
#else
  return 0.0;
#endif
}

// Seconds of instructions that need no unit: twice as long where another thread has the same core.
static double issue_s(void) {
#if defined(__x86_64__)
#define IDLE ".byte 0x0f, 0x1f, 0x40, 0x00\n\t"
#else
#define IDLE "nop\n\t"
#endif
#define IDLE8 IDLE IDLE IDLE IDLE IDLE IDLE IDLE IDLE
  double begin = now_s();
  for (int i = 0; i < 2000; i++) __asm__ volatile(IDLE8 IDLE8 IDLE8 IDLE8 IDLE8 IDLE8 IDLE8 IDLE8);
  return now_s() - begin;
}

// A pass in seconds; the cycle time before and after it, and the longer of two trials of issue_s.
struct sample {
  double before_hz, after_hz, issue_s, time_s;
};

static double time_of(void (*pass)(long), long n, long passes) {
  double begin = now_s();
  for (long i = 0; i < passes; i++) pass(n);
  return now_s() - begin;
}

static struct sample sample_of(void (*pass)(long), long n, long passes) {
  struct sample sample;
  sample.before_hz = clock_hz();
  double before = issue_s();
  sample.time_s = time_of(pass, n, passes) / (double)passes;
  double after = issue_s();
  sample.issue_s = before > after ? before : after;
  sample.after_hz = clock_hz();
  return sample;
}

// Times passes of `seconds` each, fewer samples where one pass is long, and prints them as the end
// of an object of JSON.
static void print_samples(void (*pass)(long), long n, void (*prepare)(void), int samples,
                          double seconds) {
  prepare();
  long passes = 1;
  double spent;
  while ((spent = time_of(pass, n, passes)) < seconds && passes < 1L << 40) passes *= 2;
  if (spent * samples > 1) samples = 1 / spent > 6 ? (int)(1 / spent) : 6;
  struct sample* measured = malloc(sizeof(struct sample) * (size_t)samples);
  if (!measured) exit(1);
  for (int i = 0; i < samples; i++) {
    prepare();
    measured[i] = sample_of(pass, n, passes);
  }
  printf("\"clock_hz\":[");
  for (int i = 0; i < samples; i++) printf("%s%.6e", i ? "," : "", measured[i].before_hz);
  printf("],\"clock_after_hz\":[");
  for (int i = 0; i < samples; i++) printf("%s%.6e", i ? "," : "", measured[i].after_hz);
  printf("],\"issue_s\":[");
  for (int i = 0; i < samples; i++) printf("%s%.6e", i ? "," : "", measured[i].issue_s);
  printf("],\"time_s\":[");
  for (int i = 0; i < samples; i++) printf("%s%.6e", i ? "," : "", measured[i].time_s);
  printf("]}\n");
  fflush(stdout);
  free(measured);
}
