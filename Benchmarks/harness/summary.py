"""Medians, spreads and ratios to a cell's base, computed from the runs of each program.

Runs are the JSON objects that programs print: {cell: {program: [run, ...]}}, one run for each round.
A value that a run does not have is left out, such as the CPU of a load generator or the allocations of a rival."""

import math
from dataclasses import dataclass
from statistics import median

from .cells import RIVALS
from .programs import has_rivals


@dataclass(frozen=True)
class Measure:
    key: str
    title: str
    unit: str  # us, /s, bytes, count
    path: tuple  # the keys that lead to the value in a run
    more_is_better: bool = False

    @property
    def is_latency(self) -> bool:
        return self.path[0] == "latency_microseconds"


def _latency(key: str, title: str) -> Measure:
    return Measure(key, title, "us", ("latency_microseconds", key))


MEASURES = (
    Measure("cpu", "CPU per request", "us", ("cpu_microseconds_per_request",)),
    Measure("rate", "requests/s", "/s", ("requests_per_second",), True),
    _latency("p50", "p50"),
    _latency("p90", "p90"),
    _latency("p99", "p99"),
    _latency("p999", "p99.9"),
    # The share of its one core. Well below 1 the client waited for something else: the server, or the next tick.
    Measure("busy", "client's core in use", "share", ("client_busy",)),
    Measure("memory", "peak memory", "bytes", ("peak_resident_bytes",)),
    Measure("waiting", "memory per request in flight", "bytes", ("resident_bytes_per_request",)),
    Measure("allocations", "allocations per request", "count", ("allocations_per_request",)),
)
# The measures by which our programs are compared with the rivals of a cell.
RIVALLED = ("cpu", "rate", "p99", "waiting")
MEASURE = {measure.key: measure for measure in MEASURES}


def number(value):
    """The value; None if it is no finite number, because JSON may contain anything."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value if math.isfinite(value) else None


def read(run: dict, measure: Measure):
    value = run
    for key in measure.path:
        value = value.get(key) if isinstance(value, dict) else None
    return number(value)


def in_rounds(runs: list) -> dict:
    """The runs by round. A run may state its round, because a failed run leaves a gap. Otherwise runs are in order."""
    return {run.get("round", index): run for index, run in enumerate(runs, 1)}


def by_round(runs: list, measure: Measure) -> dict:
    values = {name: read(run, measure) for name, run in in_rounds(runs).items()}
    return {name: value for name, value in values.items() if value is not None}


def ratios(runs: list, others: list, measure: Measure) -> list:
    """The ratio of each round: a slow moment of the machine affects all programs of a round alike.
    others are the runs of one or more programs, whose values are added up."""
    values = by_round(runs, measure)
    below = [by_round(other, measure) for other in others]
    if not values or not below or not all(below):
        return []
    told = all("round" in run for run in sum(others, runs))
    if told or all(len(other) == len(runs) for other in others):
        pairs = [(value, sum(other[name] for other in below)) for name, value in values.items()
                 if all(name in other for other in below)]
    else:  # it is not known which runs belong together
        pairs = [(median(values.values()), sum(median(other.values()) for other in below))]
    return [value / base for value, base in pairs if base > 0]


def best(programs: list, measure: Measure) -> list:
    """The best run of each round among all programs, as if they were one program. A run that stayed behind its rate has
    no latency."""
    rounds = {}
    for name, run in (pair for runs in programs for pair in in_rounds(runs).items()):
        if read(run, measure) is not None and not (measure.is_latency and is_behind(run)):
            rounds.setdefault(name, []).append(run)
    choose = max if measure.more_is_better else min
    return [choose(rounds[name], key=lambda run: read(run, measure)) for name in sorted(rounds)]


def is_behind(run: dict) -> bool:
    """Whether a paced run could not send at its rate. Its latency is then the backlog's, and keeps growing."""
    rate, reached = number(run.get("rate")), number(run.get("requests_per_second"))
    return rate is not None and reached is not None and reached < 0.98 * rate


def middle(values: list) -> dict:
    centre = median(values)
    low, high = min(values), max(values)
    return {"count": len(values), "median": centre, "low": low, "high": high,
            "spread": (high - low) / abs(centre) if centre else 0.0}


def curve(runs: list) -> list:
    """[[percentile, us], ...], medians over the rounds. A percentile is left out if a run has too few requests for it,
    because it would only repeat the longest request."""
    points = {}
    for run in runs:
        requests = number(run.get("requests"))
        for percentile, value in _points(run):
            beyond = requests is None or requests * (100 - percentile) / 100 >= 0.999
            if beyond and 0 <= percentile < 100 and value > 0:
                points.setdefault(percentile, []).append(value)
    return [[percentile, median(points[percentile])] for percentile in sorted(points)]


def _points(run: dict):
    spectrum = run.get("latency_spectrum") or []
    if not spectrum:  # at least the percentiles that each program prints: p50 is 50, p999 is 99.9
        latency = run.get("latency_microseconds") or {}
        names = [key for key in latency if key[:1] == "p" and key[1:].isdigit()]
        spectrum = [[float(key[1:3] + "." + (key[3:] or "0")), latency[key]] for key in names]
        spectrum.append([0.0, latency.get("min")])
    for point in spectrum:
        if len(point) == 2 and None not in (number(point[0]), number(point[1])):
            yield float(point[0]), point[1]


def entry(runs: list, base: list = (), rivals: list = ()) -> dict:
    """The summary of one program in one cell. base: the runs of the ratios' base; rivals: the runs of each rival."""
    result = {"runs": len(runs), "errors": sum(number(run.get("errors")) or 0 for run in runs)}
    behind = sum(map(is_behind, runs))
    if behind:
        result["behind"] = behind
    offered = [run["rate"] for run in runs if number(run.get("rate")) is not None]
    if offered:
        result["offered"] = median(offered)
    requests = [run["requests"] for run in runs if number(run.get("requests")) is not None]
    if requests:
        result["requests"] = median(requests)
    for measure in MEASURES:
        values = list(by_round(runs, measure).values())
        if not values:
            continue
        result[measure.key] = middle(values)
        to_base = ratios(runs, [base], measure) if base else []
        if to_base:
            result[measure.key].update(
                ratio=median(to_base), ratio_low=min(to_base), ratio_high=max(to_base))
        to_rival = ratios(runs, [best(rivals, measure)], measure) if measure.key in RIVALLED else []
        if to_rival:
            result[measure.key]["rival"] = median(to_rival)
    result["curve"] = curve(runs)
    return result


def columns_of(entries: dict) -> list:
    """The columns of one cell's table: (measure, False), followed by (measure, True) if our programs are compared with rivals
    by this measure."""
    columns = []
    for measure in MEASURES:
        found = [entry[measure.key] for entry in entries.values() if measure.key in entry]
        if found:
            columns.append((measure, False))
        if measure.key in RIVALLED and any("rival" in each for each in found):
            columns.append((measure, True))
    return columns


def best_rival(entries: dict, key: str):
    """The rival with the best median among one cell's programs; None if there is none."""
    there = {name: entries[name] for name in RIVALS if key in entries.get(name, {})}
    if MEASURE[key].is_latency:
        there = {name: found for name, found in there.items() if not overloaded(found)}
    choose = max if MEASURE[key].more_is_better else min
    return choose(there, key=lambda name: there[name][key]["median"], default=None)


def overloaded(found: dict) -> bool:
    """Whether the program stayed behind its rate in most of its rounds."""
    return most(found.get("behind", 0), found["runs"])


def most(some: int, rounds: int) -> bool:
    return some * 2 > rounds


def base_of(name: str, programs, matrix: dict) -> str:
    told = matrix.get(name, {}).get("base")
    return told or ("bare" if "bare" in programs else next(iter(programs), ""))


def table(results: dict, matrix: dict) -> dict:
    """{cell: {program: entry}}. matrix has the base of each cell."""
    out = {}
    for cell, programs in results.items():
        base = programs.get(base_of(cell, programs, matrix), [])
        rivals = [programs[rival] for rival in RIVALS if programs.get(rival)]
        out[cell] = {program: entry(runs, base, rivals if has_rivals(program, programs) else ())
                     for program, runs in programs.items() if runs}
    return out
