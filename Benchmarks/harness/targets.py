"""The targets, and the figures that were reached.

A measure is a key of summary.MEASURES, alone or divided by the same measure of other runs:
  cpu/bare              a program in the same cell
  cpu/closures+decoder  the sum of two programs
  cpu/@small_c64        the same program in another cell
  cpu/bare@small_c64    another program in another cell
  cpu/a|b               the best of several programs, in each round
The program that is measured may also be several programs, separated by |."""

from dataclasses import dataclass
from statistics import median

from .cells import AHC, BARE
from .programs import look
from .summary import MEASURE, best, by_round, is_behind, most, ratios


@dataclass(frozen=True)
class Target:
    text: str
    cell: str
    program: str
    measure: str
    limit: float
    at_least: bool = False

    def met(self, value: float) -> bool:
        return value >= self.limit if self.at_least else value <= self.limit


def _each(programs: tuple, text: str, cell: str, measure: str, limit: float,
          at_least: bool = False) -> tuple:
    return tuple(Target(f"{look(program).title}: {text}", cell, program, measure, limit, at_least)
                 for program in programs)


CHEAPEST_AHC = "|".join(AHC)
BEST_BARE = "|".join(BARE)
SWIFT = ("closures", "async")
OURS = ("core",) + SWIFT
TARGETS = (
    *_each(("core",), "CPU <= 1.08x the bare loop", "small_c64", "cpu/bare", 1.08),
    *_each(("closures",), "CPU <= 1.10x the bare loop", "small_c64", "cpu/bare", 1.10),
    *_each(("async",), "CPU <= 1.18x the bare loop", "small_c64", "cpu/bare", 1.18),
    *_each(("closures",), "CPU <= net/http of Go", "small_c64", "cpu/go", 1),
    *_each(SWIFT, "requests/s >= 0.9x the bare loop", "small_c64", "rate/bare", 0.9, True),
    Target("AsyncHTTPClient: CPU >= 2.5x our async", "small_c64", CHEAPEST_AHC, "cpu/async", 2.5, True),
    *_each(("urlsession",), "CPU >= 15x our async", "small_c64", "cpu/async", 15, True),
    *_each(OURS, "CPU at 1,000 <= 1.3x that at 64", "small_c1000", "cpu/@small_c64", 1.3),
    *_each(OURS, "CPU at 4,000 <= 1.5x that at 64", "small_c4000", "cpu/@small_c64", 1.5),
    *_each(OURS, "requests/s >= 0.95x the bare loop with its best receive buffer", "64kb_c64", "rate/" + BEST_BARE,
           0.95, True),
    *_each(SWIFT, "CPU <= reqwest", "64kb_c64", "cpu/reqwest", 1),
    *_each(SWIFT, "requests/s >= 2x AsyncHTTPClient", "64kb_c64", "rate/" + CHEAPEST_AHC, 2, True),
    *_each(OURS, "requests/s >= 0.95x the bare loop", "1mb_c16", "rate/bare", 0.95, True),
    *_each(SWIFT, "CPU <= 0.75x reqwest", "1mb_c16", "cpu/reqwest", 0.75),
    *_each(SWIFT, "requests/s >= 1.3x reqwest", "1mb_c16", "rate/reqwest", 1.3, True),
    *_each(SWIFT, "requests/s >= 2x AsyncHTTPClient", "1mb_c16", "rate/" + CHEAPEST_AHC, 2, True),
    *(target for cell, programs in (("download_1gb", ("download", "fetch")), ("stream_1gb", ("fetch",)))
      for target in (*_each(programs, "CPU <= 1.1x curl", cell, "cpu/curl", 1.1),
                     *_each(programs, "peak memory < 40 MB", cell, "memory", 40_000_000))),
    *_each(("typed",), "CPU <= 1.3x closures without decoding and the decoder alone",
           "post_typed", "cpu/closures+decoder", 1.3),
    *_each(("closures",), "CPU <= 1.15x the bare loop", "tls_c64", "cpu/bare", 1.15),
    *_each(("async",), "CPU <= 1.22x the bare loop", "tls_c64", "cpu/bare", 1.22),
    *_each(SWIFT, "CPU <= 1.15x the bare loop", "h2_c64", "cpu/bare", 1.15),
    *_each(SWIFT, "CPU <= 1.25x a bare loop that sets the same", "rich_c64", "cpu/bare", 1.25),
    *_each(("memory", "http"), "CPU of a hit <= 0.25x a request", "1kb_cached", "cpu/closures",
           0.25),
    *_each(("sqlite",), "CPU of a hit <= 1x a request", "1kb_cached", "cpu/closures", 1.0),
    *_each(OURS, "<= 18 KB resident for each waiting request", "slow_c10000", "waiting", 18_000),
    *_each(("closures",), "p99 <= 1.5x the C core", "open_loop", "p99/core", 1.5),
    *_each(("async",), "p99 <= 1.3x the bare loop", "open_loop", "p99/bare", 1.3),
)


def values(target: Target, results: dict) -> list:
    """The value of each round; empty if a program that the target needs was not run."""
    key, _, divisor = target.measure.partition("/")
    measure = MEASURE[key]
    runs = _runs(results.get(target.cell, {}), target.program, measure)
    if not divisor:
        return list(by_round(runs, measure).values())
    programs, _, cell = divisor.partition("@")
    there = results.get(cell or target.cell, {})
    others = [_runs(there, name, measure) for name in (programs or target.program).split("+")]
    return ratios(runs, others, measure)


def _runs(cell: dict, name: str, measure) -> list:
    names = name.split("|")
    return cell.get(name, []) if len(names) == 1 else best([cell.get(each, []) for each in names], measure)


def _late(target: Target, results: dict) -> list:
    """For each round of a program whose latency is measured: whether the program stayed behind its rate."""
    measure = MEASURE[target.measure.partition("/")[0]]
    if not measure.is_latency:
        return []
    return [is_behind(run) for run in _runs(results.get(target.cell, {}), target.program, measure)]


def verdicts(results: dict, wanted: tuple = TARGETS) -> list:
    out = []
    for target in wanted:
        found, late = values(target, results), _late(target, results)
        # A program that could not keep up in most rounds has no latency, and has missed the target.
        overloaded = bool(found) and most(sum(late), len(late))
        if overloaded:
            found = []
        reached = median(found) if found else None
        out.append({
            "target": target.text, "cell": target.cell, "program": target.program,
            "measure": target.measure, "limit": target.limit, "at_least": target.at_least,
            "reached": reached,
            "low": min(found) if found else None, "high": max(found) if found else None,
            "overloaded": overloaded,
            "met": False if overloaded else None if reached is None else target.met(reached),
            "always": all(late) if overloaded else len({target.met(value) for value in found}) < 2,
        })
    return out
