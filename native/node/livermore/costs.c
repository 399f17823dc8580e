// What a function of the C library takes: calls that do not wait for each other.
//
// costs SAMPLES SECONDS NAME... prints a line of JSON for each name that it knows.
#include <math.h>
#include <string.h>

#include "samples.h"

enum { calls = 256 };

static double inputs[calls], results[calls];
static double (*function)(double);

static void fill_given(void) {
  for (int i = 0; i < calls; i++) inputs[i] = 0.05 + 0.9 * i / calls;
}

static void call_each(long n) {
  for (long i = 0; i < n; i++) results[i] = function(inputs[i]);
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
  const int functions_count = (int)(sizeof functions / sizeof functions[0]);
  for (int at = 3; at < count; at++)
    for (int place = 0; place < functions_count; place++)
      if (!strcmp(functions[place].name, words[at])) {
        function = functions[place].function;
        printf("{\"name\":\"%s\",\"iterations\":%d,", functions[place].name, calls);
        print_samples(call_each, calls, fill_given, atoi(words[1]), atof(words[2]));
      }
  return 0;
}
