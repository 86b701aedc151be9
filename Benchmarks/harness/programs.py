"""How programs are shown: titles, order, colours. cells.py says which programs are run."""

from dataclasses import dataclass

from .cells import BUFFERS, GENERATORS, RIVALS, TOOLS

SOLID, DASHED, DOTTED, MIXED = "", "7 4", "2 4", "10 3 2 3"


@dataclass(frozen=True)
class Look:
    title: str  # in charts and long tables
    short: str  # in the head of a column
    colour: str  # --c-NAME of assets/report.css
    dash: str = SOLID  # lines must be told apart without colours too


# This is the order in tables and bars. Other programs follow, sorted by name.
LOOKS = {
    "bare": Look("bare loop", "bare", "grey"),
    "bare-64k": Look("bare loop, receive buffer of 64 KB", "bare 64 KB", "grey", DOTTED),
    "bare-128k": Look("bare loop, receive buffer of 128 KB", "bare 128 KB", "grey", MIXED),
    "decoder": Look("decoder alone", "decoder", "grey", DASHED),
    "core": Look("C core", "core", "blue"),
    "closures": Look("closures", "closures", "green"),
    "closures-inline": Look("closures on the loop's thread", "inline", "green", DASHED),
    "async": Look("async", "async", "purple"),
    "async-on-queue": Look("async, tasks on the callback queue", "async on queue", "purple", DASHED),
    "typed": Look("typed, closures", "typed", "blue", MIXED),
    "typed-async": Look("typed, async", "typed async", "purple", MIXED),
    "batch": Look("batch", "batch", "blue", MIXED),
    "memory": Look("memory cache", "memory", "blue", MIXED),
    "http": Look("memory cache, RFC 9111", "http", "purple", MIXED),
    "sqlite": Look("SQLite cache", "sqlite", "orange", MIXED),
    "async-http-client": Look("AsyncHTTPClient", "AHC", "red", DASHED),
    "async-http-client-future": Look("AsyncHTTPClient, futures", "AHC futures", "orange", DASHED),
    "async-http-client-async": Look("AsyncHTTPClient, tasks of the pool", "AHC tasks", "red", MIXED),
    "urlsession": Look("URLSession", "URLSession", "olive", DASHED),
    "reqwest": Look("reqwest (Rust)", "reqwest", "red"),
    "go": Look("net/http (Go)", "Go", "olive", MIXED),
    "wrk": Look("wrk", "wrk", "ink", DOTTED),
    "h2load": Look("h2load", "h2load", "ink", DOTTED),
    "curl": Look("curl", "curl", "grey"),
    "download": Look("errand download", "download", "blue"),
    "fetch": Look("errand fetch", "fetch", "green"),
}
ORDER = {name: index for index, name in enumerate(LOOKS)}
COLOURS = ("blue", "green", "purple", "orange", "red", "olive", "grey", "ink")


def look(name: str) -> Look:
    known = LOOKS.get(name)
    if known:
        return known
    return Look(name, name, COLOURS[sum(name.encode()) % len(COLOURS)], MIXED)


def ordered(names) -> list:
    return sorted(set(names), key=lambda name: (ORDER.get(name, len(ORDER)), name))


# These are in two cells only, so their columns in a table over all cells would be almost empty.
ASIDE = tuple(BUFFERS) + TOOLS


def repeated(cells: dict) -> list:
    """The columns of a table over all cells. A program that is in one cell only has no column, which would be almost
    empty. If there are few cells, all programs have one."""
    seen = [program for programs in cells.values() for program in programs]
    return [program for program in ordered(seen)
            if len(cells) < 3 or seen.count(program) > 1 and program not in ASIDE]


# The columns in which the programs that encode and decode are shown. The C programs cannot do so.
TYPED = {"bare": "", "core": "", "closures": "typed", "async": "typed-async"}


def has_rivals(program: str, programs) -> bool:
    """Whether a program is to be compared with the rivals of its cell, because it does the same work."""
    if program in RIVALS + GENERATORS:
        return False
    return "typed" not in programs or program in TYPED.values()


def places(columns: list, programs) -> dict:
    """Which of a cell's programs is shown in which column of a table over all cells. Columns compare like with like."""
    out = {column: column for column in columns}
    if "typed" in programs and "typed" not in columns:
        out.update((column, typed) for column, typed in TYPED.items() if column in columns)
    return out
