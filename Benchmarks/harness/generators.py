"""wrk and h2load: the cost without a client.

They send the same bytes over and over, and drop the answers. So they are a bound,
not a rival. Each result has the keys that the programs print, or fewer: a value is
None, or its key is missing, if the generator does not report it. CPU is that of the
child process as the kernel counted it, including connecting, divided by the requests."""

import json
import os
import re
import shutil
import subprocess
import threading

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "wrk.lua")


def wrk(url, connections, seconds, cpu=None, headers=()):
    """A closed loop over HTTP/1.1 for `seconds`, on one thread; None if wrk is not installed. Its percentiles are left
    out, because it corrects them for coordinated omission, and no other closed loop does."""
    if shutil.which("wrk") is None:
        return None
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "60s", "--latency", "-s", SCRIPT]
    for header in headers:
        command += ["-H", header]
    text, usage = _run(command + [url], cpu, seconds + 60)
    return _result(parse_wrk(text), usage, "wrk", connections)


def h2load(url, connections, streams, requests, cpu=None, http1=False, headers=(), body_file=None):
    """Sends `requests` requests, `streams` at a time on each connection; None if h2load is not installed. h2load prints
    no percentiles."""
    if shutil.which("h2load") is None:
        return None
    command = ["h2load", "-t1", f"-c{connections}", f"-m{1 if http1 else streams}", f"-n{requests}"]
    for header in headers:
        command += ["-H", header]
    if http1:
        command.append("--h1")
    if body_file:
        command += ["-d", body_file]
    text, usage = _run(command + [url], cpu, 300)
    return _result(parse_h2load(text), usage, "h2load", connections if http1 else connections * streams)


def parse_wrk(text):
    """Reads the line that wrk.lua prints within the output of wrk."""
    match = re.search(r"^result (\{.*\})$", text, re.MULTILINE)
    if match is None:
        raise SystemExit(f"bench: wrk printed no result:\n{text}")
    found = json.loads(match[1])
    answered = found["requests"]
    return {
        "requests": answered + found["errors"],
        "errors": found["errors"],
        "seconds": found["microseconds"] / 1e6,
        "latency_microseconds": {
            "min": found["min"], "mean": None, **dict.fromkeys(("p50", "p90", "p99", "p999")), "max": found["max"]},
        # wrk distinguishes only good answers from others.
        "status": {key: count for key, count in
                   (("200", answered - found["refused"]), ("other", found["refused"])) if count},
    }


def parse_h2load(text):
    def numbers(pattern):
        match = re.search(pattern, text)
        if match is None:
            raise SystemExit(f"bench: h2load printed unexpected output:\n{text}")
        return match.groups()

    total, done = map(int, numbers(r"requests: (\d+) total, \d+ started, (\d+) done"))
    codes = map(int, numbers(r"status codes: (\d+) 2xx, (\d+) 3xx, (\d+) 4xx, (\d+) 5xx"))
    low, high, mean = map(microseconds, numbers(r"time for request: +(\S+) +(\S+) +(\S+)"))
    spent, = numbers(r"finished in ([^,]+),")
    data, = numbers(r"\((\d+)\) data")
    return {
        "requests": total,
        "errors": total - done,
        "seconds": microseconds(spent) / 1e6,
        "bytes_received": int(data),
        "latency_microseconds": {
            "min": low, "mean": mean, "p50": None, "p90": None, "p99": None, "p999": None, "max": high},
        "status": {key: count for key, count in zip(("200", "3xx", "4xx", "5xx"), codes) if count},
    }


def microseconds(text):
    """The microseconds of a time as h2load prints it: 53us, 5.00ms, 1.20s; 2m 3s is 123 s."""
    units = {"us": 1, "ms": 1e3, "s": 1e6, "m": 60e6, "h": 3600e6}
    parts = re.findall(r"([\d.]+)(us|ms|s|m|h)", text)
    if not parts:
        raise SystemExit(f"bench: '{text}' is not a time")
    return sum(float(value) * units[unit] for value, unit in parts)


def _result(parsed, usage, mode, in_flight):
    answered = parsed["requests"] - parsed["errors"]
    return {
        **parsed,
        "requests_per_second": answered / parsed["seconds"] if parsed["seconds"] else 0,
        "cpu_user_seconds": usage.ru_utime,
        "cpu_system_seconds": usage.ru_stime,
        "cpu_microseconds_per_request": (usage.ru_utime + usage.ru_stime) * 1e6 / max(1, parsed["requests"]),
        "mode": mode,
        "connections": in_flight,
        "loops": 1,
    }


def _run(command, cpu, limit):
    """Returns the output of the command, and the resources that only its process used."""
    if cpu is not None:
        command = ["taskset", "-c", str(cpu)] + command
    child = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    watch = threading.Timer(limit, child.kill)
    watch.start()
    try:
        text = child.stdout.read()
    finally:
        watch.cancel()
        child.stdout.close()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise SystemExit(f"bench: {' '.join(command)} ended with {child.returncode}:\n{text}")
    return text, usage
