#ifndef NHALF_TYPES
#define NHALF_TYPES
#include <stddef.h>
typedef long ssize_t;
typedef long off_t;
typedef int pid_t;
#endif
