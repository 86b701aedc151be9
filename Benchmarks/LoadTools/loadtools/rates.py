"""How many requests per second each program makes on one core, against one nginx worker on another core."""

import os
import statistics
import tempfile

from harness.servers import Servers

from . import process
from .programs import Load

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
CONNECTIONS = 64


class Rate:
    def __init__(self, report, run, seconds):
        self.requests, self.per_second = report.requests, report.requests / seconds
        # With its start: a second of Locust's is imports.
        self.microseconds = run.cpu_seconds * 1e6 / max(1, report.requests)
        self.cores = run.cpu_seconds / run.seconds


def measure_all(program_list, seconds, rounds, say=print):
    """The rates of each program, one for each round. The programs run in turn, because the machine's speed drifts."""
    found = {program.name: [] for program in program_list}
    with Servers(os.path.join(ROOT, "Benchmarks", "nginx.conf.in"), None, process.SERVER_CPU, 0) as servers:
        url = f"http://127.0.0.1:{servers.port}/small"
        for number in range(rounds):
            for program in program_list if number % 2 == 0 else reversed(program_list):
                with tempfile.TemporaryDirectory(prefix="errand-loadtools-") as folder:
                    done = process.run(program.command(Load(url, seconds, CONNECTIONS), folder), seconds + 60, cwd=folder)
                    report = program.read(done.text, folder)
                if report.errors > CONNECTIONS:
                    raise SystemExit(f"compare: {program.title}: {report.errors} errors of nginx:\n{done.text}")
                rate = Rate(report, done, seconds)
                found[program.name].append(rate)
                say(f"  {program.title:18} {rate.per_second:10,.0f}/s {rate.microseconds:8.2f} us CPU {rate.cores:5.2f} cores")
    return found


def median(rates, name):
    return statistics.median(getattr(rate, name) for rate in rates)
