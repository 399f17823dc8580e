typedef long time_t;
typedef long clock_t;
#define CLOCKS_PER_SEC 1000000L
