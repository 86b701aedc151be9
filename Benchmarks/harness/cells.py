"""The programs and cells of the matrix that is measured. Targets are in targets.py."""

from dataclasses import dataclass

LAYERS = ("bare", "core", "closures", "async")
# The same as closures, but a cache answers all requests except the first.
CACHES = ("memory", "http", "sqlite")
AHC = ("async-http-client", "async-http-client-future")
# The way in which most programs use it. Shown only beside the other ways, because it is never the cheapest.
AHC_USUAL = ("async-http-client-async",)
URLSESSION = ("urlsession",)
IN_SWIFT = AHC + URLSESSION
# reqwest in Rust and net/http in Go, if their toolchains are installed.
BEYOND_SWIFT = ("reqwest", "go")
RIVALS = IN_SWIFT + AHC_USUAL + BEYOND_SWIFT
GENERATORS = ("wrk", "h2load")
ON_QUEUE = ("async-on-queue",)
# Callbacks on the loop's thread: the difference to closures is the cost of the way to another thread.
INLINE = ("closures-inline",)
# The bare loop with other receive buffers than libcurl's 16 KB.
BUFFERS = {"bare-64k": 65_536, "bare-128k": 131_072}
BARE = ("bare",) + tuple(BUFFERS)
# Command line tools, each run once for one body.
CURL = ("curl",)
TOOLS = CURL + ("download", "fetch")
# The programs whose allocations are counted.
OURS = LAYERS + INLINE + ON_QUEUE + ("typed", "typed-async", "batch") + CACHES
PROGRAMS = OURS + tuple(BUFFERS) + ("decoder",) + RIVALS + GENERATORS + TOOLS


@dataclass(frozen=True)
class Cell:
    name: str
    title: str
    path: str  # below the server's root
    concurrency: int
    requests: int
    warmup: int
    programs: tuple = LAYERS
    base: str = "bare"  # ratios are relative to this program
    server: str = "http"  # or tls, slow
    http2: bool = False
    rich: bool = False
    typed: bool = False
    paced: bool = False  # at half the rate of the bare loop
    stored: bool = False  # for tools: into a file instead of /dev/null

    @property
    def counts(self):
        """Of two runs, as (requests, in flight): the additional allocations of the second run are those of the additional
        requests. If each request waits on its own connection, the connection is counted too."""
        if self.slow:
            return tuple((count, count) for count in (self.requests // 5, self.requests))
        first = max(2_000, 2 * self.concurrency)
        return (first, self.concurrency), (first + 10_000, self.concurrency)

    @property
    def slow(self):
        return self.server == "slow"


CELLS = (
    Cell("small_c1", "12 B, 1 in flight", "/small", 1, 20_000, 1_000,
         LAYERS + INLINE + IN_SWIFT + BEYOND_SWIFT + ("wrk",)),
    Cell("small_c64", "12 B, 64 in flight", "/small", 64, 150_000, 10_000,
         LAYERS + INLINE + ON_QUEUE + RIVALS + ("wrk",)),
    Cell("small_c1000", "12 B, 1,000 in flight", "/small", 1_000, 120_000, 10_000,
         LAYERS + AHC + BEYOND_SWIFT + ("wrk",)),
    Cell("small_c4000", "12 B, 4,000 in flight", "/small", 4_000, 120_000, 16_000,
         LAYERS + AHC + BEYOND_SWIFT + ("wrk",)),
    Cell("64kb_c64", "64 KB, 64 in flight", "/files/64k.bin", 64, 60_000, 3_000,
         LAYERS + tuple(BUFFERS) + INLINE + IN_SWIFT + BEYOND_SWIFT + ("wrk",)),
    Cell("1mb_c16", "1 MB, 16 in flight", "/files/1m.bin", 16, 6_000, 200,
         LAYERS + tuple(BUFFERS) + INLINE + IN_SWIFT + BEYOND_SWIFT + ("wrk",)),
    Cell("download_1gb", "1 GB into a file", "/files/1g.bin", 1, 1, 0, TOOLS, "curl", stored=True),
    Cell("stream_1gb", "1 GB, written to /dev/null as it arrives", "/files/1g.bin", 1, 1, 0, ("curl", "fetch"), "curl"),
    Cell("post_typed", "POST of 1 KB JSON, encoded and decoded", "/item", 64, 40_000, 4_000,
         ("bare", "core", "closures", "decoder", "typed", "typed-async") + IN_SWIFT + BEYOND_SWIFT,
         typed=True),
    Cell("tls_c64", "12 B over TLS", "/small", 64, 100_000, 10_000,
         LAYERS + INLINE + ON_QUEUE + AHC + BEYOND_SWIFT + ("h2load",), server="tls"),
    Cell("h2_c64", "12 B over HTTP/2 and TLS", "/small", 64, 100_000, 10_000,
         LAYERS + INLINE + AHC + BEYOND_SWIFT + ("h2load",), server="tls", http2=True),
    Cell("rich_c64", "fields, deadlines, a text, an accessory, a log line", "/small", 64, 80_000, 8_000,
         LAYERS + ON_QUEUE + IN_SWIFT, rich=True),
    Cell("batch_100k", "100,000 children of one batch", "/small", 64, 100_000, 0, ("closures", "batch"), "closures"),
    Cell("1kb_cached", "1 KB, from the network and from caches", "/1k", 64, 300_000, 10_000,
         ("closures",) + CACHES, "closures"),
    Cell("slow_c10000", "10,000 in flight to a slow server", "/", 10_000, 10_000, 0,
         LAYERS + AHC + BEYOND_SWIFT, server="slow"),
    Cell("open_loop", "12 B at half the bare loop's rate", "/small", 64, 300_000, 12_000,
         LAYERS + INLINE + AHC + BEYOND_SWIFT, paced=True),
)

# The same program with a single request: the base before any requests are in flight.
BASELINE = Cell("slow_c1", "1 in flight to the slow server", "/", 1, 1, 0, server="slow")
