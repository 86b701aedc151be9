"""Bars and latency curves, as HTML and inline SVG without scripts."""

import math
from html import escape

from .formats import duration, percent, ratio, with_unit
from .programs import look, ordered
from .summary import MEASURE

CUT = 6  # bars longer than this many times the base are cut; otherwise the base could not be seen
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 340, 84, 18, 14, 46
NINES = (0, 50, 90, 99, 99.9, 99.99)


def attribute(value) -> str:
    return escape(str(value), quote=True)


def _length(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def limit_of(values: list, base) -> float:
    longest = max(values)
    return min(longest, CUT * base) if base else longest


def _bar(found: dict, colour: str, limit: float) -> str:
    """The drawing is as wide as the highest round. The bar ends at the median, and a whisker spans the rounds."""
    cut = found["median"] > limit
    reach = limit if cut else max(found["high"], found["median"])
    share = min(reach / limit, 1) if limit else 0
    parts = [f'<svg class="bar" style="--share:{share:.4f}" aria-hidden="true" focusable="false">']
    to = 100 if cut or not reach else 100 * found["median"] / reach
    parts.append(f'<rect class="f-{colour}" width="{_length(to)}%" height="100%"/>')
    if cut:
        parts.append('<svg x="100%" overflow="visible">'
                     '<path class="cut" d="M-18 18l6-20M-12 18l6-20"/></svg>')
    elif reach and found["high"] > found["low"]:
        low = _length(100 * found["low"] / reach)
        parts.append(f'<line class="whisker" x1="{low}%" x2="100%" y1="50%" y2="50%"/>')
    return "".join(parts) + "</svg>"


def bars(entries: dict, base: str, key: str) -> str:
    """One row for each program: name, bar, value and ratio. Text stays text; only bars are SVG."""
    shown = [program for program in ordered(entries) if key in entries[program]]
    if not shown:
        return ""
    middle = entries.get(base, {}).get(key, {}).get("median")
    limit = limit_of([entries[program][key]["high"] for program in shown], middle)
    line = f' style="--base:{middle / limit:.4f}"' if middle and limit else ""
    rows = []
    for program in shown:
        found, shape = entries[program][key], look(program)
        told = with_unit(key, found["median"])
        over = ratio(found["ratio"]) if "ratio" in found and program != base else ""
        title = f"{shape.title}: {told}, {with_unit(key, found['low'])} to " \
                f"{with_unit(key, found['high'])}, spread {percent(found['spread'])}"
        rows.append(
            f'<li title="{attribute(title)}"><span class="name">{escape(shape.title)}</span>'
            f'<span class="track">{_bar(found, shape.colour, limit)}'
            f'<span class="value">{escape(told)}'
            + (f" <b>{over}</b>" if over else "") + "</span></span></li>")
    cut = any(entries[program][key]["median"] > limit for program in shown)
    note = f"Truncated bars continue beyond {CUT} times the base. " if cut else ""
    better = "More" if MEASURE[key].more_is_better else "Less"
    return (f'<ul class="bars{" with-base" if line else ""}"{line}>{"".join(rows)}</ul>'
            f'<p class="note">{better} is better. {note}'
            + (f"Dashed line and ratios: {escape(look(base).title)}." if line else "") + "</p>")


def percentile_name(percentile: float) -> str:
    return "min" if percentile == 0 else f"p{percentile:g}"


def nines(percentile: float) -> float:
    """0 for the least, 1 for 90, 2 for 99, ..."""
    return -math.log10(1 - percentile / 100)


def log_bounds(low: float, high: float) -> tuple:
    """Both bounds, rounded outwards to 1, 2 or 5 times a power of ten."""
    def step(value, up):
        power = 10 ** math.floor(math.log10(value))
        marks = [power * mark for mark in (1, 2, 5, 10)]
        if up:
            return next(mark for mark in marks if mark >= value * (1 - 1e-9))
        return next(mark for mark in reversed(marks) if mark <= value * (1 + 1e-9))
    first, last = step(low, False), step(high, True)
    return (first, last) if last > first else (first, first * 2)


def log_ticks(first: float, last: float) -> list:
    marks = (1, 2, 5) if math.log10(last / first) < 2.6 else (1,)
    powers = range(math.floor(math.log10(first)), math.ceil(math.log10(last)) + 1)
    every = [10 ** power * mark for power in powers for mark in marks]
    return [tick for tick in every if first * 0.999 <= tick <= last * 1.001]


def _axes(x, y, ticks: list, percentiles: list) -> list:
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    parts = []
    for tick in ticks:
        at = _length(y(tick))
        parts.append(f'<path class="grid" d="M{LEFT} {at}H{right}"/><text class="tick" '
                     f'x="{LEFT - 8}" y="{at}" dy=".33em" text-anchor="end">'
                     f"{escape(duration(tick, exact=False))}</text>")
    for percentile in percentiles:
        at = _length(x(percentile))
        name, kind = percentile_name(percentile), "tick least" if percentile == 0 else "tick"
        last = x(percentile) > right - 20
        parts.append(f'<path class="grid" d="M{at} {TOP}V{bottom}"/><text class="{kind}" '
                     f'x="{right + 10 if last else at}" y="{bottom + 22}" '
                     f'text-anchor="{"end" if last else "middle"}">{name}</text>')
    parts.append(f'<path class="axis" d="M{LEFT} {TOP}V{bottom}H{right}"/>')
    return parts


def _line(program: str, curve: list, x, y) -> str:
    shape = look(program)
    points = [(_length(x(at)), _length(y(value)), at, value) for at, value in curve]
    told = ", ".join(f"{percentile_name(at)} {duration(value)}"
                     for at, value in curve if at in NINES)
    dash = f' stroke-dasharray="{shape.dash}"' if shape.dash else ""
    path = "M" + "L".join(f"{left} {top}" for left, top, _, _ in points)
    dots = "".join(
        f'<circle cx="{left}" cy="{top}" r="7"><title>{escape(shape.title)}, '
        f"{percentile_name(at)}: {escape(duration(value))}</title></circle>"
        for left, top, at, value in points)
    return (f'<g class="line s-{shape.colour}" tabindex="0" role="img" '
            f'aria-label="{attribute(f"{shape.title}: {told}")}"><title>{escape(shape.title)}: '
            f'{escape(told)}</title><path d="{path}"{dash}/>{dots}</g>')


def _legend(curves: dict) -> str:
    """Sorted from the slowest to the fastest tail, in the order in which the lines end."""
    def tail(item):
        values = dict((at, value) for at, value in item[1])
        return -values.get(99, values.get(99.0, item[1][-1][1]))
    items = []
    for program, curve in sorted(curves.items(), key=lambda item: (tail(item), item[0])):
        shape = look(program)
        dash = f' stroke-dasharray="{shape.dash}"' if shape.dash else ""
        p99 = next((duration(value) for at, value in curve if at == 99), "")
        items.append(
            f'<li><svg class="swatch s-{shape.colour}" viewBox="0 0 34 10" aria-hidden="true" '
            f'focusable="false"><path d="M1 5H33"{dash}/></svg><span>{escape(shape.title)}</span>'
            f"<span class=\"figure\">{escape(p99)}</span></li>")
    return (f'<ul class="legend"><li class="legend-head"><span>at p99, slowest first</span></li>'
            f'{"".join(items)}</ul>')


def latency(entries: dict, title: str) -> str:
    """Percentiles on an axis of nines, which leaves room for the tail. Both axes are logarithmic."""
    curves = {program: entries[program]["curve"] for program in ordered(entries)
              if len(entries[program].get("curve", ())) > 1}
    if not curves:
        return ""
    everything = [value for curve in curves.values() for _, value in curve]
    first, last = log_bounds(min(everything), max(everything))
    furthest = max(at for curve in curves.values() for at, _ in curve)
    percentiles = [at for at in NINES if at <= max(furthest, 90)]
    span = nines(max(furthest, percentiles[-1]))

    def x(percentile):
        return LEFT + (WIDTH - LEFT - RIGHT) * nines(percentile) / span

    def y(value):
        share = math.log(value / first) / math.log(last / first)
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - share)

    label = f"Latency by percentile, {title}. The same figures are in the table below."
    parts = [f'<svg class="curves" viewBox="0 0 {WIDTH} {HEIGHT}" role="group" '
             f'aria-label="{attribute(label)}">']
    parts += _axes(x, y, log_ticks(first, last), percentiles)
    parts += [_line(program, curve, x, y) for program, curve in curves.items()]
    parts.append("</svg>")
    return f'<div class="plot">{"".join(parts)}{_legend(curves)}</div>'
