// Calls that may take no longer than a message in a cache, so that a jump would show: each has a
// copy of all that counts it, in trace.cpp. Other calls share their code, in shared_calls.cpp: a
// copy in each of some five hundred is twice as long, and long to compile.
#pragma once

#define NHALF_SHORT_Send ~, NHALF_IS_SHORT
#define NHALF_SHORT_Isend ~, NHALF_IS_SHORT
#define NHALF_SHORT_Recv ~, NHALF_IS_SHORT
#define NHALF_SHORT_Irecv ~, NHALF_IS_SHORT
#define NHALF_SHORT_Wait ~, NHALF_IS_SHORT
#define NHALF_SHORT_Test ~, NHALF_IS_SHORT
#define NHALF_SHORT_Probe ~, NHALF_IS_SHORT
#define NHALF_SHORT_Iprobe ~, NHALF_IS_SHORT
#define NHALF_SHORT_Waitall ~, NHALF_IS_SHORT
#define NHALF_SHORT_Testall ~, NHALF_IS_SHORT

/// Passes a row of the table on to NHALF_IS_SHORT or to NHALF_NOT_SHORT.
#define NHALF_WRAPPED(name, ...) NHALF_FROM(NHALF_SHORT_##name)(name, __VA_ARGS__)
#define NHALF_FROM(...) NHALF_SECOND(__VA_ARGS__, NHALF_NOT_SHORT, ~)
#define NHALF_SECOND(first, second, ...) second
