"""The document that --json writes, and everything that is made from it."""

import json
import os
import shlex

from .cells import CELLS
from .html import page
from .markdown import brief, full
from .summary import base_of, number, table
from .targets import TARGETS, verdicts

MARKS = ("<!-- scripts/bench --readme -->\n", "<!-- end -->")
# Options about the output do not help to repeat the measurement.
_NOT_THE_MEASUREMENT = {"--json": 1, "--markdown": 1, "--html": 1, "--readme": 0, "--no-build": 0,
                        "--strict": 0}


def command_text(arguments: list) -> str:
    kept, skip = ["scripts/bench"], 0
    for argument in arguments:
        name, equals, _ = argument.partition("=")
        if skip:
            skip -= 1
        elif name in _NOT_THE_MEASUREMENT:
            skip = 0 if equals else _NOT_THE_MEASUREMENT[name]
        else:
            kept.append(argument)
    return shlex.join(kept)


def matrix_of(cells) -> dict:
    """The facts about cells that a reader needs. The document contains them, because cells change later."""
    return {cell.name: {"title": cell.title, "base": getattr(cell, "base", "bare"),
                        "in_flight": cell.concurrency, "requests": cell.requests}
            for cell in cells}


def document(results: dict, *, date: str, machine: str, command: str, rounds: int,
             cells=CELLS) -> dict:
    """The document for `results`: {cell: {program: [run, ...]}}."""
    return complete({"date": date, "machine": machine, "command": command, "rounds": rounds,
                     "matrix": matrix_of(cells), "runs": results})


def complete(saved: dict) -> dict:
    """Adds everything that follows from the runs, and the parts that an older document does not have."""
    results = {cell: {program: runs for program, runs in programs.items() if runs}
               for cell, programs in saved["runs"].items()}
    results = {cell: programs for cell, programs in results.items() if programs}
    known = matrix_of(CELLS)
    told = saved.get("matrix") or {}
    matrix = {}
    for name in [*(name for name in told if name in results),
                 *(name for name in known if name in results and name not in told),
                 *(name for name in results if name not in told and name not in known)]:
        cell = dict(told.get(name) or known.get(name) or {"title": name})
        cell["base"] = base_of(name, results[name], {name: cell})
        matrix[name] = cell
    for programs in results.values():
        for run in (run for runs in programs.values() for run in runs):
            told_cpu, rate = number(run.get("cpu_microseconds_per_request")), number(run.get("requests_per_second"))
            if told_cpu is not None and rate is not None:
                run.setdefault("client_busy", told_cpu * rate / 1e6)
    summaries = table({name: results[name] for name in matrix}, matrix)
    rounds = max((len(runs) for cell in results.values() for runs in cell.values()), default=0)
    return {
        "date": saved.get("date", ""), "machine": saved.get("machine", ""),
        "command": saved.get("command", "scripts/bench"), "rounds": saved.get("rounds", rounds),
        "matrix": matrix, "cells": summaries, "targets": verdicts(results, TARGETS),
        "runs": results,
    }


def load(path: str) -> dict:
    with open(path, encoding="utf-8") as file:
        saved = json.load(file)
    if not _is_document(saved):
        raise ValueError(f"{path} is not a file written by scripts/bench --json")
    return complete(saved)


def _is_document(saved) -> bool:
    """Whether the value has the form that reports depend on."""
    def mapping(value):
        return isinstance(value, dict)
    if not mapping(saved) or not mapping(saved.get("runs")):
        return False
    matrix, cells = saved.get("matrix") or {}, saved["runs"].values()
    return (mapping(matrix) and all(map(mapping, matrix.values())) and all(map(mapping, cells))
            and all(isinstance(runs, list) and all(map(mapping, runs))
                    for programs in cells for runs in programs.values()))


def write_text(path: str, text: str):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def write_json(path: str, report: dict):
    write_text(path, json.dumps(report, indent=1) + "\n")


def write_html(path: str, report: dict):
    write_text(path, page(report))


def write_markdown(path: str, report: dict):
    write_text(path, full(report))


def write_readme(path: str, report: dict, make=brief):
    """Replaces the text between the two marks."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    begin, end = MARKS
    if begin not in text or end not in text.split(begin, 1)[1]:
        raise ValueError(f"{os.path.basename(path)} has no marks {begin.strip()} and {end}")
    before, rest = text.split(begin, 1)
    after = rest.split(end, 1)[1]
    write_text(path, f"{before}{begin}{make(report)}{end}{after}")


def any_missed(report: dict) -> bool:
    return any(verdict["met"] is False for verdict in report["targets"])
