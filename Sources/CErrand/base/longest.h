/*
 * The longest of the times that were noted in the current window of 15 seconds
 * and the previous one. A reader resets nothing, so there may be many readers.
 */
#ifndef ERRAND_BASE_LONGEST_H
#define ERRAND_BASE_LONGEST_H

#include "base/counter.h"

#define ERRAND__LONGEST_WINDOW_NS UINT64_C(15000000000)
/* A word has the time in its low bits, 68 s at most, and the number of the
   window in the bits above, which are enough for 127 years of uptime. */
#define ERRAND__LONGEST_BITS 36
#define ERRAND__LONGEST_MAX_NS ((UINT64_C(1) << ERRAND__LONGEST_BITS) - 1)

typedef struct errand__longest {
  errand__counter windows[2];
} errand__longest;

/* Thread: the only writer.  `now_ns` never goes back. */
static inline void errand__longest_note(errand__longest *longest,
                                        uint64_t now_ns, uint64_t time_ns) {
  uint64_t window = now_ns / ERRAND__LONGEST_WINDOW_NS;
  uint64_t word =
      (window << ERRAND__LONGEST_BITS) |
      (time_ns < ERRAND__LONGEST_MAX_NS ? time_ns : ERRAND__LONGEST_MAX_NS);
  errand__counter *place = &longest->windows[window & 1];
  /* The word of an earlier window is smaller, whatever its time. */
  if (errand__counter_read(place) < word)
    errand__counter_set(place, word);
}

/* Thread: any. Returns: 0 if nothing was noted in the two windows. */
static inline uint64_t errand__longest_read(const errand__longest *longest,
                                            uint64_t now_ns) {
  uint64_t window = now_ns / ERRAND__LONGEST_WINDOW_NS;
  uint64_t found = 0;
  for (int i = 0; i < 2; i++) {
    uint64_t word = errand__counter_read(&longest->windows[i]);
    uint64_t time_ns = word & ERRAND__LONGEST_MAX_NS;
    if ((word >> ERRAND__LONGEST_BITS) + 1 >= window && time_ns > found)
      found = time_ns;
  }
  return found;
}

#endif
