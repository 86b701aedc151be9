/* The fields of a rich request; RichRequest.swift of the rivals has the same.
 */
#ifndef BENCH_RICH_FIELDS_H
#define BENCH_RICH_FIELDS_H

enum { BENCH_RICH_FIELDS = 8 };

extern const char *const bench_rich_fields[BENCH_RICH_FIELDS];

#endif
