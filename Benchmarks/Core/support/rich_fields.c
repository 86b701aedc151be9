#include "rich_fields.h"

const char *const bench_rich_fields[BENCH_RICH_FIELDS] = {
    "Accept: text/plain",
    "Accept-Language: en, de;q=0.8",
    "User-Agent: bench/1.0",
    "Authorization: Bearer 0123456789abcdef0123456789abcdef",
    "X-Request-ID: 3f2c8a7e-1b5d-4c9a-8e6f-0a1b2c3d4e5f",
    "X-Client-Version: 1.2.3",
    "X-Tenant: tenant-42",
    "Traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
};
