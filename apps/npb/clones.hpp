// One executable for all processors of a family: loops that vectorise are compiled several times.
#pragma once

/// Before a function: the loader chooses the version for the widest vectors that the processor has.
/// Levels are asked for by their instructions; a named processor would be that one and no later
/// one. What it calls is inlined into each version, or has none.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    __GNUC__ >= 12 && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define NHALF_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define NHALF_CLONES
#endif
