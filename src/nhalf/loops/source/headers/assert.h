// SPDX-License-Identifier: Apache-2.0
#define assert(x) ((void)0)
