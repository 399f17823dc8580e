// SPDX-License-Identifier: Apache-2.0
#ifndef NHALF_STDDEF
#define NHALF_STDDEF
typedef unsigned long size_t;
typedef long ptrdiff_t;
#define NULL ((void*)0)
#endif
