// SPDX-License-Identifier: Apache-2.0
#define M_PI 3.14159265358979323846
#define INFINITY 1e999
