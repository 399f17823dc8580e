// SPDX-License-Identifier: Apache-2.0
// What a function of the C library takes: calls that do not wait for each other.
//
// costs SAMPLES SECONDS NAME... prints a line of JSON for each name that it knows.
#include <math.h>
#include <string.h>

#include "samples.h"

enum { calls = 256 };

static double given[calls], results[calls];
static double (*function)(double);

static void fill_given(void) {
  for (int i = 0; i < calls; i++) given[i] = 0.05 + 0.9 * i / calls;
}

static void call_each(long n) {
  for (long i = 0; i < n; i++) results[i] = function(given[i]);
}

struct named {
  const char* name;
  double (*function)(double);
};
static const struct named functions[] = {
    {"exp", exp},     {"log", log},     {"sin", sin},     {"cos", cos},     {"tan", tan},
    {"asin", asin},   {"acos", acos},   {"atan", atan},   {"sinh", sinh},   {"cosh", cosh},
    {"tanh", tanh},   {"exp2", exp2},   {"log2", log2},   {"log10", log10}, {"cbrt", cbrt},
    {"expm1", expm1}, {"log1p", log1p}, {"floor", floor}, {"ceil", ceil},   {"round", round},
    {"erf", erf},     {"sqrt", sqrt},
};

int main(int count, char** words) {
  const int known = (int)(sizeof functions / sizeof functions[0]);
  for (int at = 3; at < count; at++)
    for (int one = 0; one < known; one++)
      if (!strcmp(functions[one].name, words[at])) {
        function = functions[one].function;
        printf("{\"name\":\"%s\",\"iterations\":%d,", functions[one].name, calls);
        print_samples(call_each, calls, fill_given, atoi(words[1]), atof(words[2]));
      }
  return 0;
}
