// SPDX-License-Identifier: Apache-2.0
#ifndef NHALF_STDIO
#define NHALF_STDIO
#include <sys/types.h>
typedef struct nhalf_file FILE;
extern FILE *stdin, *stdout, *stderr;
#endif
