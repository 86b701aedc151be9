#include "pace.h"

uint64_t bench_pace_due(const bench_pace *pace, uint64_t number) {
  return pace->first + (uint64_t) ((double) number * 1e9 / pace->rate);
}

uint64_t bench_pace_departure(const bench_pace *pace, uint64_t number) {
  uint64_t due = bench_pace_due(pace, number);
  uint64_t past = pace->tick ? (due - pace->first) % pace->tick : 0;
  return past ? due + pace->tick - past : due;
}
