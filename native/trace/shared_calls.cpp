// The wrappers of calls that are not short. They are a unit of their own, which is compiled beside
// trace.cpp, and at -O1, since a nanosecond of theirs does not show.
#include "trace/wrapped.hpp"

#define NHALF_IS_SHORT(...)
#define NHALF_NOT_SHORT(...) NHALF_TRACED(false, __VA_ARGS__)

#include "calls/wrapped.inc"
