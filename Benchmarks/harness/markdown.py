"""The report as Markdown: in full, the README's table, and the targets."""

import re
from statistics import median

from .formats import NOTHING, OVERLOADED, TO_RIVAL, of_measure, of_target, percent, ratio, to_rival
from .programs import look, ordered, places, repeated
from .summary import MEASURE, MEASURES, columns_of, overloaded

CORNER = "CPU us/request unless noted (ratio to bare)"
WORDS = {True: "met", False: "**missed**", None: "not measured"}
UNITS = {"us": " us", "/s": "", "count": "", "share": ""}
# The table of the README: rows as (cell, measure), and columns.
BRIEF_ROWS = (("small_c64", "cpu"), ("64kb_c64", "cpu"), ("1mb_c16", "cpu"), ("tls_c64", "cpu"),
              ("h2_c64", "cpu"), ("slow_c10000", "waiting"))
BRIEF_COLUMNS = ("bare", "core", "closures", "async", "async-http-client", "async-http-client-future",
                 "urlsession", "reqwest", "go")

PLAIN = ", the same bytes, nothing encoded or decoded"


def _cell(text) -> str:
    """The text for a cell of a table: it ends no column and no line, and has no tag."""
    line = " ".join(str(text).split()).replace("\\", "\\\\").replace("|", "\\|")
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", line)


def _code(text: str) -> str:
    fence = "``" if "`" in text else "`"
    return f"{fence}{' '.join(text.split())}{fence}"


def _table(head: list, rows: list) -> list:
    lines = [head, ["---"] + ["--:"] * (len(head) - 1), *rows]
    return ["| " + " | ".join(line) + " |" for line in lines] + [""]


def _column(measure) -> str:
    known = {"cpu": "CPU us/request", "memory": "peak memory MB",
             "waiting": "bytes/request in flight"}
    title = measure.title.replace(" per request", "/request")
    return known.get(measure.key) or title + UNITS[measure.unit]


def _short(entry: dict, key: str, base: bool) -> str:
    """The median and the ratio, as far as they exist. The base itself has no ratio."""
    found = (entry or {}).get(key)
    if not found:
        return ""
    if MEASURE[key].is_latency and overloaded(entry):
        return OVERLOADED
    text = of_measure(key, found["median"])
    return text if base or "ratio" not in found else f"{text} ({ratio(found['ratio'], 'x')})"


def _value(entry: dict, key: str, base: bool) -> str:
    """The same with the spread."""
    found, text = entry.get(key), _short(entry, key, base)
    if not text:
        return NOTHING
    has_spread = found["count"] > 1 and text != OVERLOADED
    return f"{text} ±{percent(found['spread'] / 2)}" if has_spread else text


def _best(entry: dict, key: str) -> str:
    return ratio(entry.get(key, {}).get("rival"), "x")


def _section(name: str, report: dict) -> list:
    cell, programs = report["matrix"][name], report["cells"][name]
    shown = columns_of(programs)
    head = [f"to {_cell(look(cell['base']).short)}",
            *(TO_RIVAL if to_best else _column(measure) for measure, to_best in shown)]
    rows = []
    for program in ordered(programs):
        entry = programs[program]
        title = _cell(look(program).title)
        if entry["errors"]:
            title += f", **{entry['errors']:,} errors**"
        if entry.get("behind"):
            title += f", behind its rate in {entry['behind']} of {entry['runs']} rounds"
        rows.append([title, *(_best(entry, measure.key) if to_best
                              else _value(entry, measure.key, program == cell["base"]) for measure, to_best in shown)])
    return [f"### {_cell(cell['title'])}{_offered(programs)}", "", *_table(head, rows)]


def _offered(programs: dict) -> str:
    """The offered rate of a paced cell."""
    rates = [entry["offered"] for entry in programs.values() if "offered" in entry]
    return f" ({median(rates):,.0f}/s)" if rates else ""


def _verdicts(report: dict) -> list:
    rows = []
    for verdict in report["targets"]:
        cell = report["matrix"].get(verdict["cell"], {}).get("title", verdict["cell"])
        figure = of_target(verdict, times="x")
        if verdict["low"] != verdict["high"]:
            figure += f" ({of_target(verdict, 'low', 'x')} to {of_target(verdict, 'high', 'x')})"
        word = WORDS[verdict["met"]] + ("" if verdict["always"] else ", not in every round")
        rows.append([_cell(cell), _cell(verdict["target"]), figure, word])
    lines = _table(["cell", "target", "reached", ""], rows)
    lines[1] = "|---|---|--:|---|"
    return lines


def _origin(report: dict) -> str:
    parts = [report["date"], report["machine"], f"medians of {report['rounds']} rounds"]
    return "; ".join(_cell(part) for part in parts if part) + ": " + _code(report["command"])


def full(report: dict) -> str:
    lines = [
        "# What a request costs", "", _origin(report), "",
        "A ratio is the median of each round's ratio to the program named in the table's corner;",
        "± is half of (max - min) / median over the rounds.", "", "## All cells at a glance", "",
        *compact(report).splitlines(), "", "## Targets", "", *_verdicts(report), "## Cells", "",
    ]
    for name in report["matrix"]:
        lines += _section(name, report)
    return "\n".join(lines)


def _rows(report: dict) -> list:
    """The rows as (cell, measure): the CPU of each cell, and its other measures that have a target."""
    aimed = {(verdict["cell"], verdict["measure"].partition("/")[0])
             for verdict in report["targets"]}
    return [(name, measure.key) for name in report["matrix"] for measure in MEASURES
            if measure.key == "cpu" or (name, measure.key) in aimed]


def _title(name: str, key: str, report: dict) -> str:
    """The title of a row in a table over several cells."""
    cell, programs = report["matrix"][name], report["cells"][name]
    title = _cell(cell["title"]) + _offered(programs)
    if key != "cpu":
        title += ": " + _column(MEASURE[key])
    if cell["base"] != "bare":
        title += f"; to {_cell(look(cell['base']).short)}"
    return title


def brief(report: dict) -> str:
    """The text that README.md has between its marks."""
    rows = []
    for name, key in BRIEF_ROWS:
        if name not in report["cells"]:
            continue
        programs, base = report["cells"][name], report["matrix"][name]["base"]
        rows.append([_title(name, key, report),
                     *(_short(programs.get(program), key, program == base) for program in BRIEF_COLUMNS),
                     to_rival(programs, key, "x")])
    head = [CORNER, *(_cell(look(name).short) for name in BRIEF_COLUMNS), TO_RIVAL]
    return "\n".join([*_table(head, rows), _origin(report) + "."]) + "\n"


def compact(report: dict) -> str:
    """One table over all cells, and the figures that have no column in it."""
    columns = repeated(report["cells"])
    head = [CORNER, *(_cell(look(name).short) for name in columns), TO_RIVAL]
    rows, notes = [], []
    for name, key in _rows(report):
        cell, programs = report["matrix"][name], report["cells"][name]
        title = _title(name, key, report)
        told = {program: _short(entry, key, program == cell["base"])
                for program, entry in programs.items()}
        standing = places(columns, told)
        figures = [told.get(standing[program], "") for program in columns]
        if any(figures):
            rows.append([title, *figures, to_rival(programs, key, "x")])
        alone = [f"{_cell(look(program).title)}{PLAIN if standing.get(program, program) != program else ''}: "
                 f"{told[program]}" for program in ordered(programs)
                 if program not in standing.values() and told[program]]
        if alone:
            notes.append(f"{title}: " + "; ".join(alone) + ".")
    lines = _table(head, rows)
    for note in notes:
        lines += [note, ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def targets(report: dict) -> str:
    """The text that Benchmarks/README.md has between its marks."""
    met = [verdict["met"] for verdict in report["targets"]]
    sure = [verdict["met"] for verdict in report["targets"] if verdict["always"]]
    lines = [f"{met.count(True)} met, {sure.count(True)} of them in every round; {met.count(False)} missed, "
             f"{sure.count(False)} of them in every round; {met.count(None)} not measured. The range is over the rounds.",
             "", *_verdicts(report), _origin(report) + "."]
    return "\n".join(lines) + "\n"
