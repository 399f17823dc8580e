// SPDX-License-Identifier: Apache-2.0
#define CHAR_BIT 8
#define INT_MAX 2147483647
#define INT_MIN (-INT_MAX - 1)
#define LONG_MAX 9223372036854775807L
