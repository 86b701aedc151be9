"""The report as one page, without scripts and without resources from a network. All figures are also in tables."""

import os
import re
from html import escape
from string import Template

from .charts import attribute, bars, latency, percentile_name
from .formats import NOTHING, OVERLOADED, TO_RIVAL, duration, of_measure, of_target, percent, ratio, to_rival
from .programs import look, ordered, places, repeated
from .summary import MEASURE, columns_of, overloaded

ASSETS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "assets")
WORDS = {True: ("met", "✓ met"), False: ("missed", "✗ missed"), None: ("none", "not measured")}
HEADS = {"cpu": "CPU µs / request", "rate": "requests/s", "p50": "p50 µs", "p90": "p90 µs",
         "p99": "p99 µs", "p999": "p99.9 µs", "busy": "client’s core in use", "memory": "peak memory MB",
         "waiting": "bytes / request in flight", "allocations": "allocations / request"}
BARS = (("cpu", "CPU per request"), ("rate", "requests/s"), ("memory", "peak memory"),
        ("waiting", "memory per request in flight"))
METHOD = (
    "All programs send requests to one nginx worker over loopback, each with one event loop; client and server "
    "have a CPU each.",
    "They run in turn, A B C, C B A, A B C …, as a machine’s speed drifts: a ratio is the median of "
    "the ratios within each round.",
    "CPU per request is user and system time of the client process (getrusage) from the end of "
    "the warm-up to the last response.",
    "Each program keeps the whole body of a response in memory until the request ends; memory is "
    "the peak that was resident.",
    "Latency in a closed loop is how long a request took; with a fixed rate (open loop) it counts "
    "from when the request was due. A program that could not send at the rate was overloaded: its "
    "latency then only shows the backlog.",
)


def asset(name: str) -> str:
    with open(os.path.join(ASSETS, name), encoding="utf-8") as file:
        return file.read()


def anchor(name: str) -> str:
    return "cell-" + re.sub(r"[^A-Za-z0-9_-]", lambda found: f"-{ord(found[0]):x}-", name)


def scrolled(label: str, content: str) -> str:
    """Wraps a wide table so that it scrolls separately from the page, also by keyboard."""
    return (f'<div class="scroll" tabindex="0" role="region" aria-label="{attribute(label)}">'
            f"{content}</div>")


def caption_of(text: str) -> str:
    """The span stays in sight while a wide table is scrolled."""
    return f"<caption><span>{escape(text)}</span></caption>"


def table(caption: str, head: list, rows: list, kind: str = "") -> str:
    """A table of cells that are HTML already. The first cell of a row is its head."""
    heads = "".join(f'<th scope="col">{text}</th>' for text in head)
    body = "".join(f'<tr><th scope="row">{row[0]}</th>'
                   + "".join(f"<td>{text}</td>" for text in row[1:]) + "</tr>" for row in rows)
    return scrolled(caption, f'<table class="{kind}">{caption_of(caption)}'
                             f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>")


def key_of(program: str) -> str:
    return f'<i class="key b-{look(program).colour}" aria-hidden="true"></i>'


def keyed(program: str) -> str:
    """The name of a column, wrapped if it has two words. Its colour is never alone on a line."""
    first, *others = look(program).short.split(" ", 1)
    return f'<span class="whole">{key_of(program)}{escape(first)}</span>' + "".join(f" {escape(rest)}" for rest in others)


def figure(entry: dict, key: str, base: bool = False) -> str:
    found = (entry or {}).get(key)
    if not found:
        return f'<span class="nothing">{NOTHING}</span>'
    if MEASURE[key].is_latency and overloaded(entry):
        return OVERLOADED
    small = []
    if "ratio" in found and not base:
        small.append(ratio(found["ratio"]))
    if found["count"] > 1:
        small.append(f"±{percent(found['spread'] / 2)}")
    text = of_measure(key, found["median"])
    return text + (f"<small>{' '.join(small)}</small>" if small else "")


def verdict_row(verdict: dict) -> str:
    kind, word = WORDS[verdict["met"]]
    text = verdict["target"].replace("<=", "≤").replace(">=", "≥")
    text = re.sub(r"(?<=[0-9])x\b", "×", text)
    rarely = "" if verdict["always"] else "<small>not in every round</small>"
    span = NOTHING
    if verdict["low"] is not None and verdict["low"] != verdict["high"]:
        span = f"{of_target(verdict, 'low')} – {of_target(verdict, 'high')}"
    return (f'<tr><th scope="row">{escape(text)}</th>'
            f'<td><span class="verdict {kind}">{word}</span>{rarely}</td>'
            f'<td>{escape(of_target(verdict))}<small class="narrow">{escape(span)}</small></td>'
            f'<td class="wide">{escape(span)}</td></tr>')


def verdict_table(report: dict) -> str:
    """A group of rows for each cell, in the order of the targets."""
    groups = {}
    for verdict in report["targets"]:
        groups.setdefault(verdict["cell"], []).append(verdict_row(verdict))
    bodies = []
    for name, rows in groups.items():
        title = escape(report["matrix"].get(name, {}).get("title", name))
        if name in report["matrix"]:
            title = f'<a href="#{anchor(name)}">{title}</a>'
        bodies.append('<tbody><tr class="group"><th scope="rowgroup" colspan="4">'
                      f'{title}</th></tr>{"".join(rows)}</tbody>')
    caption = "What was reached: the median over the rounds, and the lowest and highest round"
    heads = ('<th scope="col">target</th><th scope="col">verdict</th><th scope="col">reached</th>'
             '<th scope="col" class="wide">range</th>')
    return scrolled(caption, f'<table class="targets">{caption_of(caption)}'
                             f'<thead><tr>{heads}</tr></thead>{"".join(bodies)}</table>')


def overview(report: dict) -> str:
    programs = repeated(report["cells"])
    rows = []
    for name, cell in report["matrix"].items():
        entries = report["cells"][name]
        base = cell["base"]
        standing = places(programs, entries)
        note = "" if base == "bare" else f"<small>ratios to {escape(look(base).title)}</small>"
        rows.append([f'<a href="#{anchor(name)}">{escape(cell["title"])}</a>{note}']
                    + [figure(entries.get(standing[program]), "cpu", program == base)
                       for program in programs]
                    + [escape(to_rival(entries, "cpu")) or f'<span class="nothing">{NOTHING}</span>'])
    head = ["cell"] + [keyed(program) for program in programs] + [TO_RIVAL]
    note = ("Programs of one cell alone are in that cell’s tables. Of the cell that encodes and decodes ours are those that "
            "do, and the bare loop, which does not, is in its table.")
    return table("CPU per request in µs; below it the ratio to the bare loop, and half the spread",
                 head, rows, "overview") + f'<p class="note">{note}</p>'


def summary_table(cell: dict, entries: dict) -> str:
    shown = columns_of(entries)
    rows = []
    for program in ordered(entries):
        entry, title = entries[program], key_of(program) + escape(look(program).title)
        if entry["errors"]:
            title += f'<small class="errors">{entry["errors"]:,} errors</small>'
        if entry.get("behind"):
            title += f'<small class="errors">behind its rate in {entry["behind"]} of {entry["runs"]} rounds</small>'
        rows.append([title] + [escape(ratio(entry.get(measure.key, {}).get("rival"))) if to_best
                               else figure(entry, measure.key, program == cell["base"]) for measure, to_best in shown])
    return table(f"{cell['title']}: medians; below them the ratio to the base "
                 f"({look(cell['base']).title}), and half the spread",
                 ["program"] + [TO_RIVAL if to_best else HEADS[measure.key] for measure, to_best in shown], rows)


def curve_table(cell: dict, entries: dict) -> str:
    programs = [name for name in ordered(entries) if entries[name].get("curve")]
    curves = {name: {at: value for at, value in entries[name]["curve"]} for name in programs}
    every = sorted({at for curve in curves.values() for at in curve})
    if not every:
        return ""
    rows = [[percentile_name(at)]
            + [escape(duration(curves[name][at])) if at in curves[name]
               else f'<span class="nothing">{NOTHING}</span>' for name in programs]
            for at in every]
    head = ["percentile"] + [key_of(name) + escape(look(name).short) for name in programs]
    inner = table(f"{cell['title']}: latency by percentile, medians over the rounds", head, rows)
    return f"<details><summary>Latencies as a table</summary>{inner}</details>"


def switchable_bars(name: str, cell: dict, entries: dict) -> str:
    """Radio buttons before the panels that they show. This works without scripts."""
    panels = [(key, title, bars(entries, cell["base"], key)) for key, title in BARS]
    panels = [panel for panel in panels if panel[2]]
    if not panels:
        return ""
    first = panels[0][0]
    picks = "".join(
        f'<input type="radio" class="pick pick-{key}" name="bars-{anchor(name)}" '
        f'id="bars-{anchor(name)}-{key}"{" checked" if key == first else ""}>'
        f'<label for="bars-{anchor(name)}-{key}">{title}</label>' for key, title, _ in panels)
    shown = "".join(f'<div class="panel panel-{key}"><h3 class="print-only">{title}</h3>'
                    f"{content}</div>" for key, title, content in panels)
    label = attribute("Bars of " + cell["title"])
    return f'<div class="switch" role="group" aria-label="{label}">{picks}{shown}</div>'


def section(name: str, report: dict) -> str:
    cell, entries = report["matrix"][name], report["cells"][name]
    facts = []
    if cell.get("in_flight"):
        facts.append(f"{cell['in_flight']:,} in flight")
    if cell.get("requests"):
        facts.append(f"{cell['requests']:,} requests a run")
    facts.append(f"base: {escape(look(cell['base']).title)}")
    facts.append(f"<code>{escape(name)}</code>")
    curves = latency(entries, cell["title"])
    if curves:
        curves = f"<h3>Latency by percentile</h3>{curves}"
    return (f'<section class="cell" id="{anchor(name)}" aria-labelledby="{anchor(name)}-title">'
            f'<h2 id="{anchor(name)}-title">{escape(cell["title"])}</h2>'
            f'<p class="facts">{" · ".join(facts[:-1])} · {facts[-1]}</p>'
            f"{switchable_bars(name, cell, entries)}{curves}"
            f"{summary_table(cell, entries)}{curve_table(cell, entries)}</section>")


def contents(report: dict) -> str:
    def missed(name):
        count = sum(1 for verdict in report["targets"]
                    if verdict["cell"] == name and verdict["met"] is False)
        return f' <span class="missed">{count} missed</span>' if count else ""
    cells = "".join(f'<li><a href="#{anchor(name)}">{escape(cell["title"])}</a>{missed(name)}</li>'
                    for name, cell in report["matrix"].items())
    return ('<ul><li><a href="#targets">Targets</a></li><li><a href="#overview">Overview</a></li>'
            f'{cells}<li><a href="#method">Method</a></li></ul>')


def page(report: dict) -> str:
    met = [verdict["met"] for verdict in report["targets"]]
    facts = [("date", report["date"]), ("machine", report["machine"]),
             ("rounds", f"{report['rounds']}; figures are medians")]
    return Template(asset("report.html")).substitute(
        css=Template(asset("report.css")).substitute(dark=asset("dark.css").strip()),
        facts="".join(f"<div><dt>{name}</dt><dd>{escape(str(text))}</dd></div>"
                      for name, text in facts if text),
        command=escape(str(report["command"])),
        met=met.count(True), missed=met.count(False), unknown=met.count(None),
        contents=contents(report), targets=verdict_table(report), overview=overview(report),
        sections="\n".join(section(name, report) for name in report["matrix"]),
        method="".join(f"<li>{escape(line)}</li>" for line in METHOD))
