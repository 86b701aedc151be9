"""What is measured: programs and cells of the matrix. Targets are in targets.py."""

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
