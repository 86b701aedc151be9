"""What is measured: programs, cells of the matrix, and the targets."""

from dataclasses import dataclass

LAYERS = ("bare", "core", "closures", "async")
# Closures again, but a cache answers all requests but the first.
CACHES = ("memory", "http", "sqlite")
PROGRAMS = LAYERS + CACHES
# What `errand bench` is called with.
MODES = {
    "closures": ("--mode", "closure"),
    "async": ("--mode", "async"),
    "memory": ("--mode", "closure", "--cache", "memory"),
    "http": ("--mode", "closure", "--cache", "memory-http"),
    "sqlite": ("--mode", "closure", "--cache", "sqlite"),
}


@dataclass(frozen=True)
class Cell:
    name: str
    title: str
    path: str  # below the server's root; "slow:" asks the slow server
    concurrency: int
    requests: int
    warmup: int
    programs: tuple = LAYERS
    base: str = "bare"  # what ratios are to

    @property
    def slow(self):
        return self.path.startswith("slow:")


CELLS = (
    Cell("small_c64", "12 B, 64 in flight", "/small", 64, 150_000, 10_000),
    Cell("1mb_c16", "1 MB, 16 in flight", "/files/1m.bin", 16, 1_500, 100),
    Cell("small_c1000", "12 B, 1,000 in flight", "/small", 1_000, 80_000, 10_000),
    Cell("slow_c10000", "10,000 in flight to a slow server", "slow:/", 10_000, 10_000, 0),
    Cell("1kb_cached", "1 KB, 64 in flight, from the network and from caches", "/1k", 64, 150_000, 10_000,
         ("closures",) + CACHES, "closures"),
)

# The same program with a single request: what there is before any is in flight.
BASELINE = Cell("slow_c1", "1 in flight to the slow server", "slow:/", 1, 1, 0)


@dataclass(frozen=True)
class Target:
    text: str
    cell: str
    program: str
    measure: str  # cpu_ratio, rate_ratio, memory, growth
    limit: float
    at_least: bool = False

    def met(self, value):
        return value >= self.limit if self.at_least else value <= self.limit


TARGETS = (
    Target("C core: CPU per request <= 1.08x the bare loop", "small_c64", "core", "cpu_ratio", 1.08),
    Target("closures: CPU per request <= 1.20x the bare loop", "small_c64", "closures", "cpu_ratio", 1.20),
    Target("async: CPU per request <= 1.30x the bare loop", "small_c64", "async", "cpu_ratio", 1.30),
    Target("C core, 1 MB: requests/s >= 0.95x the bare loop", "1mb_c16", "core", "rate_ratio", 0.95, True),
    Target("closures, 1 MB: requests/s >= 0.95x the bare loop", "1mb_c16", "closures", "rate_ratio", 0.95, True),
    Target("async, 1 MB: requests/s >= 0.95x the bare loop", "1mb_c16", "async", "rate_ratio", 0.95, True),
    Target("C core: resident memory per waiting request <= 20 KB", "slow_c10000", "core", "memory", 20_000),
    Target("closures: resident memory per waiting request <= 20 KB", "slow_c10000", "closures", "memory", 20_000),
    Target("async: resident memory per waiting request <= 20 KB", "slow_c10000", "async", "memory", 20_000),
    Target("a hit in memory: CPU <= 0.25x a request", "1kb_cached", "memory", "cpu_ratio", 0.25),
    Target("a hit in memory by RFC 9111: CPU <= 0.25x a request", "1kb_cached", "http", "cpu_ratio", 0.25),
    Target("a hit in SQLite: CPU <= 1x a request", "1kb_cached", "sqlite", "cpu_ratio", 1.0),
    Target("C core: CPU per request at 1,000 <= 1.5x that at 64", "small_c1000", "core", "growth", 1.5),
)
