#ifndef NHALF_STDIO
#define NHALF_STDIO
#include <sys/types.h>
typedef struct nhalf_file FILE;
extern FILE *stdin, *stdout, *stderr;
#endif
