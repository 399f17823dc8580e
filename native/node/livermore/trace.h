// SPDX-License-Identifier: Apache-2.0
// Keeps what instructions record of themselves while a pass is executed: 16 bytes for each.
#pragma once

#include <stdio.h>
#include <stdlib.h>

// Pages that nobody writes are never there.
static char records[(size_t)1 << 29];
char* nhalf_trace_next = records;

enum { records_wanted = 6000 };

// Executes a pass, so that data is as it usually is, and then so many that there are enough
// records. It writes these; the end of an object of JSON says how many passes and records they are.
static void trace_pass(void (*pass)(long), long n, void (*prepare)(void), const char* path) {
  FILE* file = fopen(path, "wb");
  if (!file) exit(1);
  prepare();
  nhalf_trace_next = records;
  pass(n);
  const size_t once = (size_t)(nhalf_trace_next - records) / 16;
  const size_t passes = once ? 1 + records_wanted / once : 1;
  nhalf_trace_next = records;
  for (size_t i = 0; i < passes; i++) pass(n);
  size_t size = (size_t)(nhalf_trace_next - records);
  if (fwrite(records, 1, size, file) != size || fclose(file)) exit(1);
  printf("\"passes\":%zu,\"records\":%zu}\n", passes, size / 16);
}
