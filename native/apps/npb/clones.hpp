// SPDX-License-Identifier: Apache-2.0
// One executable for all processors of a family: loops that vectorise are compiled several times.
#pragma once

/// Before a function: the loader chooses the version for the widest vectors that the processor has.
/// What it calls is inlined into each version, or has none.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define NHALF_CLONES \
  __attribute__((target_clones("arch=skylake-avx512", "arch=haswell", "default")))
#else
#define NHALF_CLONES
#endif
