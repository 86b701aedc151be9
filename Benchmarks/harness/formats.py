"""Numbers as text, in the same form in Markdown and HTML."""

from .programs import look
from .summary import MEASURE, best_rival, overloaded

NOTHING = "–"
TO_RIVAL = "to the best rival"
# Our programs in the column of the best rival. Not every cell has all of them.
COMPARED = ("closures", "async", "typed", "typed-async")
OVERLOADED = "overloaded"  # the program could not keep its rate, so it has no latency


def plain(value: float) -> str:
    """About four figures."""
    size = abs(value)
    digits = 0 if size >= 1000 else 1 if size >= 100 else 2
    return f"{value:,.{digits}f}"


def microseconds(value: float) -> str:
    """For a table: without decimals from 100 on, so that columns are easy to read."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def duration(value: float, micro: str = "µs", exact: bool = True) -> str:
    """Three significant digits and the unit. Without `exact`, as on an axis, trailing zeros are left out."""
    value = float(f"{value:.3g}")  # 999.7 us are 1.00 ms
    size, unit = next(((size, unit) for size, unit in ((1e6, "s"), (1e3, "ms")) if value >= size),
                      (1, micro))
    value /= size
    if value >= 100:
        return f"{value:,.0f} {unit}"
    return f"{value:#.3g} {unit}" if exact else f"{value:.3g} {unit}"


def bytes_text(value: float) -> str:
    return f"{value / 1e6:,.1f} MB" if value >= 1e6 else f"{value:,.0f} B"


def of_measure(key: str, value) -> str:
    """The value without its unit, which is in the head of the column."""
    if value is None:
        return NOTHING
    if key == "cpu":
        return plain(value)
    if key == "memory":
        return f"{value / 1e6:,.1f}"
    unit = MEASURE[key].unit
    if unit == "share":
        return percent(value)
    if unit == "us":
        return microseconds(value)
    if unit == "/s" and value < 10:
        return f"{value:.2f}"
    return f"{value:,.1f}" if unit == "count" else f"{value:,.0f}"


def with_unit(key: str, value, micro: str = "µs") -> str:
    if value is None:
        return NOTHING
    if key == "cpu":
        return f"{plain(value)} {micro}"
    unit = MEASURE[key].unit
    if unit == "us":
        return duration(value, micro)
    if unit == "bytes":
        return bytes_text(value)
    return of_measure(key, value) + ("/s" if unit == "/s" else "")


def ratio(value, times: str = "×") -> str:
    if value is None:
        return NOTHING
    return f"{value:.2f}{times}" if value < 10 else f"{value:.1f}{times}"


def to_rival(entries: dict, key: str, times: str = "×") -> str:
    """For one cell: the ratios of our programs to the best rival of each round, and the rival with the best median."""
    told = [f"{look(name).short} {ratio(entries[name][key]['rival'], times)}" for name in COMPARED
            if "rival" in entries.get(name, {}).get(key, {})
            and not (MEASURE[key].is_latency and overloaded(entries[name]))]
    return f"{look(best_rival(entries, key)).short}: {', '.join(told)}" if told and best_rival(entries, key) else ""


def percent(value) -> str:
    return NOTHING if value is None else f"{value:.0%}"


def of_target(verdict: dict, which: str = "reached", times: str = "×") -> str:
    """A target's figure: a ratio if its measure is divided by something."""
    value = verdict.get(which)
    key, _, divisor = (verdict.get("measure") or "").partition("/")
    if value is None:
        return OVERLOADED if which == "reached" and verdict.get("overloaded") else NOTHING
    if divisor:
        return ratio(value, times)
    if key in MEASURE and MEASURE[key].unit == "bytes":
        return f"{value:,.0f} B"
    return with_unit(key, value) if key in MEASURE else plain(value)
