"""Compares the reports of each program for a server of known behaviour with the truth."""

import dataclasses
import json
import os
import sys
import tempfile

from harness.servers import free_port

from . import process
from .cases import at, cases, scheduled
from .programs import Load, Unreadable

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RATE = 500
# With this many connections a closed loop sends about as many requests: the mean delay of the first case is 19 ms.
CONNECTIONS = 10
PERCENTILES = {"p50": 50, "p90": 90, "p99": 99, "max": 100}
# The tolerance: 20 ms for timers, and for programs whose connections all send at once; 5 % for rounding. The truths
# differ by more than that. A single hiccup of the machine can raise the maximum, so its tolerance is larger. One error
# more or less may have been in flight at the end.
SLACK, SHARE, HICCUP = 0.02, 0.05, 0.1


@dataclasses.dataclass
class Seen:
    """The record of one run's server. The latencies do not contain the wait until the server read a request."""

    requests: int
    errors: int
    unanswered: int
    p50: float | None
    p90: float | None
    p99: float | None
    max: float | None


def seen(record):
    waits = sorted(answered - read for read, answered, _ in record if answered is not None)
    return Seen(
        len(record), sum(status != 200 for _, answered, status in record if answered is not None),
        len(record) - len(waits), *(at(waits, percentile) for percentile in PERCENTILES.values()))


def measure(program, case, seconds, rate):
    """Runs one program with its own server."""
    with tempfile.TemporaryDirectory(prefix="errand-loadtools-") as folder:
        port, record = free_port(), os.path.join(folder, "record.json")
        server = [sys.executable, "-m", "loadtools.server", case.name, str(seconds), str(port), record]
        with process.Service(server, port, cwd=HERE):
            load = Load(f"http://127.0.0.1:{port}/", seconds, CONNECTIONS, rate)
            done = process.run(program.command(load, folder), seconds + 60, cwd=folder)
        try:
            report = program.read(done.text, folder)
        except Unreadable:
            # ab ends without a report if an answer is missing.
            report = None
        with open(record) as file:
            return report, seen(json.load(file)), done


def judge(report, truth, server, case):
    """The mistakes in a report; an empty list if it is right. `truth`: for users on schedule."""
    if report is None:
        return ["no report"]
    wrong = []
    for name, percentile in PERCENTILES.items():
        said, true = getattr(report, name), truth.at(percentile)
        if said is None:
            wrong.append(f"no {name}")
        elif said < true - SLACK - SHARE * true:
            wrong.append(f"{name} too low")
        elif said > true + (HICCUP if name == "max" else SLACK) + SHARE * true and not case.ends_silent:
            # Requests without an answer wait for as long as the program lets them.
            wrong.append(f"{name} too high")
    # A request in flight at the end of a run is no error if the server is about to answer it.
    errors = server.errors + (server.unanswered if case.ends_silent else 0)
    if abs(report.errors - errors) > max(1, errors * 0.01):
        wrong.append(f"{report.errors:,} of {errors:,} errors")
    return wrong


def measure_all(program_list, seconds, rate=RATE, only=None, say=print):
    """For each case: the case, its truth, and (program, report, seen, mistakes) for each program."""
    out = []
    for case in cases(seconds):
        if only and case.name not in only:
            continue
        truth = scheduled(case, rate, seconds)
        found = []
        for program in program_list:
            report, server, _ = measure(program, case, seconds, rate)
            wrong = judge(report, truth, server, case)
            say(f"  {case.name:8} {program.title:18} {report} {server} {'; '.join(wrong) or 'right'}")
            found.append((program, report, server, wrong))
        out.append((case, truth, found))
    return out
