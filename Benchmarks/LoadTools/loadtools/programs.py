"""The load generators: how each is called, and how its report is read.

A report has: requests (the number that the program says it measured), errors (of every kind that it reports), and p50,
p90, p99, max in seconds. None: the program does not report the value."""

import dataclasses
import json
import os
import re
import shutil

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
TOOL = os.path.join(ROOT, ".build", "release", "errand")
TIMES = ("p50", "p90", "p99", "max")
UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600}


class Unreadable(Exception):
    """The text is not the report of that program."""


@dataclasses.dataclass
class Report:
    requests: int
    errors: int
    p50: float | None = None
    p90: float | None = None
    p99: float | None = None
    max: float | None = None


@dataclasses.dataclass
class Load:
    """`rate`: requests per second, which programs without a rate ignore; None: as many as possible. `connections`: for
    programs without a rate. `paced`: the connections of programs in which every connection keeps a part of the rate."""

    url: str
    seconds: int
    connections: int
    rate: float | None = None
    paced: int = 50


def seconds_of(text):
    """The seconds of a time as wrk and h2load print it: 53us, 5.00ms, 1.20s; 2m 3s is 123 s."""
    parts = re.findall(r"([\d.]+)(us|ms|s|m|h)", text)
    if not parts:
        raise Unreadable(f"'{text}' is not a time")
    return round(sum(float(value) * UNITS[unit] for value, unit in parts), 9)


def found(pattern, text, otherwise=None):
    match = re.search(pattern, text, re.MULTILINE)
    if match:
        return match[1]
    if otherwise is None:
        raise Unreadable(f"nothing matches {pattern} in:\n{text}")
    return otherwise


class Program:
    """One load generator. `keeps_rate`: whether it is asked to keep the rate of a case."""

    name = title = ""
    keeps_rate = True
    # The package of Debian or PyPI.
    package = None

    def path(self):
        """The path of the executable. None: it is not installed."""
        return shutil.which(self.name)

    def version(self, text_of):
        return found(r"(\d+\.\d+[\w.]*)", text_of([self.path(), "--version"]), "?")

    def command(self, load, folder):
        raise NotImplementedError

    def read(self, text, folder):
        raise NotImplementedError


class Errand(Program):
    """`kind`: a load test with a rate; with users; with users who run a .http file; or one URL, the way a layer is
    measured."""

    package = "this repository"
    TITLES = {"rate": "errand", "users": "errand, users", "file": "errand, .http file", "layer": "errand, one URL"}

    def __init__(self, tool=TOOL, kind="rate"):
        self.tool, self.kind = tool, kind
        self.name, self.title = "errand" if kind == "rate" else f"errand-{kind}", self.TITLES[kind]
        self.keeps_rate = kind == "rate"

    def path(self):
        return self.tool if os.access(self.tool, os.X_OK) else None

    def command(self, load, folder):
        target = load.url
        if self.kind == "file":
            target = os.path.join(folder, "load.http")
            with open(target, "w") as file:
                file.write(f"GET {load.url}\n")
        command = [self.tool, "bench", target, "-d", f"{load.seconds}s", "--loops", "1", "--no-progress"]
        if self.kind == "layer":
            return command + ["-c", str(load.connections), "--warm-up", "0", "--json"]
        command += ["--grace", "2s", "-o", self._file(folder)]
        if self.kind == "rate":
            return command + ["--rate", str(load.rate), "--max-users", "10000"]
        return command + ["--users", str(load.connections)]

    @staticmethod
    def _file(folder):
        return os.path.join(folder, "errand.json")

    def read(self, text, folder):
        if self.kind == "layer":
            return parse_errand_layer(text)
        with open(self._file(folder)) as file:
            return parse_errand(file.read())


def parse_errand(text):
    """The result of a load test."""
    request, = json.loads(text)["requests"]
    counts, latency = request["counts"], request["latency"] or {}

    def time(name):
        return latency[name] / 1e9 if name in latency else None

    unanswered = counts["failed"] + counts["timed_out"] + counts["unfinished"] + counts["never_sent"]
    return Report(counts["due"], unanswered + request["rejected"],
                  *(time(f"{name}_nanoseconds") for name in TIMES))


def parse_errand_layer(text):
    """The output of `errand bench --json` for one URL. The text of standard error comes before or after it."""
    run = json.loads(text[text.index("{"):text.rindex("}") + 1])
    times = [run["latency_microseconds"][name] for name in TIMES]
    return Report(run["due"], run["errors"], *(time / 1e6 for time in times))


class Wrk(Program):
    name, title, package, keeps_rate = "wrk", "wrk", "wrk", False

    def version(self, text_of):
        return found(r"(\d+\.\d+\.\d+)", text_of(["wrk", "--version"]), "?")

    def command(self, load, folder):
        return ["wrk", "-t1", f"-c{load.connections}", f"-d{load.seconds}s", "--latency", load.url]

    def read(self, text, folder):
        return parse_wrk(text)


def parse_wrk(text):
    errors = int(found(r"Non-2xx or 3xx responses: (\d+)", text, "0"))
    sockets = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", text)
    errors += sum(map(int, sockets.groups())) if sockets else 0
    return Report(
        int(found(r"^\s*(\d+) requests in", text)), errors,
        *(seconds_of(found(rf"^\s*{percent}%\s+(\S+)", text)) for percent in (50, 90, 99)),
        seconds_of(found(r"^\s*Latency\s+\S+\s+\S+\s+(\S+)", text)))


class H2Load(Program):
    name, title, package = "h2load", "h2load", "nghttp2-client"

    def command(self, load, folder):
        command = ["h2load", "--h1", "-t1", "-D", str(load.seconds)]
        if load.rate:
            return command + [f"-c{load.paced}", f"--rps={load.rate / load.paced:g}", load.url]
        return command + [f"-c{load.connections}", load.url]

    def read(self, text, folder):
        return parse_h2load(text)


def parse_h2load(text):
    """h2load prints no percentiles. Its `succeeded` counts answers below 400."""
    total, succeeded = (int(found(pattern, text)) for pattern in (r"requests: (\d+) total", r"(\d+) succeeded"))
    times = re.search(r"time for request: +(\S+) +(\S+)", text)
    if times is None:
        raise Unreadable(f"no times in:\n{text}")
    return Report(total, total - succeeded, max=seconds_of(times[2]))


class Hey(Program):
    name, title, package = "hey", "hey", "hey"

    def version(self, text_of):
        return found(r"Version: (\d[\w.]*)", text_of(["dpkg", "-s", "hey"]), "?")

    def command(self, load, folder):
        command = ["hey", "-z", f"{load.seconds}s", "-cpus", "1"]
        if load.rate:
            return command + ["-c", str(load.paced), "-q", f"{load.rate / load.paced:g}", load.url]
        return command + ["-c", str(load.connections), load.url]

    def read(self, text, folder):
        return parse_hey(text)


def parse_hey(text):
    """hey prints no number of requests: it is the sum of the statuses and errors."""
    answers = {int(status): int(count) for status, count in re.findall(r"^\s*\[(\d{3})\]\s+(\d+) responses", text, re.M)}
    after = text.partition("Error distribution:")[2]
    failures = sum(int(count) for count in re.findall(r"^\s*\[(\d+)\]", after, re.M))
    if not answers and not failures:
        raise Unreadable(f"no answers in:\n{text}")
    errors = failures + sum(count for status, count in answers.items() if status >= 400)

    def percentile(number):
        value = found(rf"^\s*{number}%+ in ([\d.]+) secs", text, "")
        return float(value) if value else None

    slowest = found(r"Slowest:\s+([\d.]+) secs", text, "")
    return Report(sum(answers.values()) + failures, errors, percentile(50), percentile(90), percentile(99),
                  float(slowest) if slowest else None)


class Ab(Program):
    name, title, package, keeps_rate = "ab", "ab", "apache2-utils", False

    def version(self, text_of):
        return found(r"Version (\d[\d.]*)", text_of(["ab", "-V"]), "?")

    def command(self, load, folder):
        # -t alone implies at most 50,000 requests.
        return ["ab", "-k", "-q", "-c", str(load.connections), "-t", str(load.seconds), "-n", "100000000", load.url]

    def read(self, text, folder):
        return parse_ab(text)


def parse_ab(text):
    """ab prints whole milliseconds. It counts answers of another length than the first one as failures."""
    def milliseconds(percent):
        value = found(rf"^\s*{percent}%\s+(\d+)", text, "")
        return int(value) / 1000 if value else None

    errors = int(found(r"^Failed requests:\s+(\d+)", text)) + int(found(r"^Non-2xx responses:\s+(\d+)", text, "0"))
    return Report(int(found(r"^Complete requests:\s+(\d+)", text)), errors, *map(milliseconds, (50, 90, 99, 100)))


class Locust(Program):
    name, title, package = "locust", "Locust", "locust (PyPI)"

    def __init__(self, folder=None):
        self.folder = folder

    def path(self):
        own = os.path.join(self.folder, "bin", "locust") if self.folder else ""
        return own if os.access(own, os.X_OK) else shutil.which("locust")

    def command(self, load, folder):
        address, slash, path = load.url.partition("://")[2].partition("/")
        users = load.paced if load.rate else load.connections
        return [
            "env", f"COMPARE_PATH={slash}{path}", f"COMPARE_RATE={load.rate / users if load.rate else 0:g}",
            self.path(), "-f", os.path.join(HERE, "locustfile.py"), "--headless", "-u", str(users), "-r", str(users),
            "-t", f"{load.seconds}s", "--host", f"http://{address}", "--only-summary", "--exit-code-on-error", "0",
            "--loglevel", "ERROR"]

    def read(self, text, folder):
        return parse_locust(text)


def parse_locust(text):
    """Reads the rows of all requests in the two tables of Locust. Percentiles from 100 ms on have two digits."""
    counts = re.search(r"^\s+Aggregated\s+(\d+)\s+(\d+)\(", text, re.M)
    if counts is None:
        raise Unreadable(f"no row of all requests in:\n{text}")
    report = Report(int(counts[1]), int(counts[2]))
    # 50, 66, 75, 80, 90, 95, 98, 99, 99.9, 99.99 and 100 %, and the number of requests.
    times = re.search(r"^\s+Aggregated" + r"\s+(\d+)" * 12 + r"\s*$", text, re.M)
    if times:
        report.p50, report.p90, report.p99, report.max = (int(times[place]) / 1000 for place in (1, 5, 8, 11))
    return report


def programs(tool, locust):
    """All programs, ours first."""
    ours = [Errand(tool, kind) for kind in Errand.TITLES]
    return ours + [Wrk(), H2Load(), Hey(), Ab(), Locust(locust)]
