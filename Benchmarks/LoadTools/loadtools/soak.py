"""The plan of docs/examples/load-plan.json against the shop. Checks whether counts agree and whether memory is flat."""

import dataclasses
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

from harness.servers import free_port

from . import process
from .rates import ROOT
from .truth import HERE

EXAMPLES = os.path.join(ROOT, "docs", "examples")
# The names of the plan's requests, by the names that the shop counts them under.
NAMES = {"login": "login", "items": "Browse", "orders": "Order", "ready": "ready", "metrics": "metrics"}
# Memory is flat if its median grows by at most this factor, or this many bytes, from the first quarter of the plateau
# to the last.
GROWTH, BYTES = 1.05, 2 << 20


def scaled(plan, minutes, users):
    """The plan of 10 minutes with another length, with `users` times the users and the rate, and with absolute paths."""
    plan = json.loads(json.dumps(plan))
    share = minutes / 10

    def shorter(text):
        units = {"s": 1, "m": 60}
        return f"{float(text[:-1]) * units[text[-1]] * share:g}s"

    plan["warm_up"] = shorter(plan["warm_up"])
    for scenario in plan["scenarios"]:
        if "files" in scenario:
            scenario["files"] = os.path.join(EXAMPLES, scenario["files"])
        for data in scenario.get("data", []):
            data["file"] = os.path.join(EXAMPLES, data["file"])
        for stage in scenario.get("stages", []):
            stage["duration"] = shorter(stage["duration"])
            stage["to"] *= users
        if "duration" in scenario:
            scenario["duration"] = shorter(scenario["duration"])
        for name in ("rate", "max_users"):
            if name in scenario:
                scenario[name] *= users
    return plan


@dataclasses.dataclass
class Memory:
    """Medians of the resident memory in the first and the last quarter of the plateau, and the peak of all samples."""

    first: float
    last: float
    peak: float

    @property
    def is_flat(self):
        return self.last <= max(self.first * GROWTH, self.first + BYTES)


def memory(samples, seconds):
    """`samples`: (seconds since the start, bytes). The plateau is the time between the first and the last stage, which take
    a tenth of the plan each. Another twentieth at its beginning is left out, in which users start."""
    plateau = [size for moment, size in samples if seconds * 0.15 <= moment <= seconds * 0.9]
    quarter = max(1, len(plateau) // 4)
    if not plateau:
        raise SystemExit("compare: there are no samples of the memory")
    return Memory(statistics.median(plateau[:quarter]), statistics.median(plateau[-quarter:]),
                  max(size for _, size in samples))


def disagreements(result, counts):
    """Differences between the counts of the result and of the shop. Every answer of the shop is either measured or part of
    the warm-up."""
    answered = {request["name"]: request["counts"]["answered"] for request in result["requests"]}
    out = []
    for place, name in NAMES.items():
        accepted, refused = counts[place]
        if refused:
            out.append(f"the shop refused {refused} of {place}")
        if accepted < answered.get(name, 0) or not answered.get(name):
            out.append(f"{name}: {answered.get(name, 0)} answered, and the shop answered {accepted}")
    return out


def run(tool, minutes, users, html=None, say=print):
    """Returns the memory, the result, and the differences."""
    with open(os.path.join(EXAMPLES, "load-plan.json")) as file:
        plan = scaled(json.load(file), minutes, users)
    seconds = minutes * 60
    with tempfile.TemporaryDirectory(prefix="errand-loadtools-") as folder:
        paths = {name: os.path.join(folder, name) for name in ("plan.json", "result.json", "counts.json", "text")}
        with open(paths["plan.json"], "w") as file:
            json.dump(plan, file)
        port = free_port()
        shop = [sys.executable, "-m", "loadtools.shop", str(port), paths["counts.json"]]
        command = [tool, "bench", paths["plan.json"], "--variable", f"host=http://127.0.0.1:{port}", "-o",
                   paths["result.json"], "--no-progress"] + (["--html", html] if html else [])
        with process.Service(shop, port, cwd=HERE):
            samples, code = _sampled(command, seconds + 120, paths["text"], say)
        with open(paths["text"]) as file:
            say(file.read())
        with open(paths["result.json"]) as file:
            result = json.load(file)
        with open(paths["counts.json"]) as file:
            counts = json.load(file)
    wrong = disagreements(result, counts)
    if code != 0:
        wrong.append(f"errand ended with {code}")
    return memory(samples, seconds), result, wrong


def _sampled(command, limit, output, say):
    """Runs the tool, and reads its resident memory every half second."""
    samples, begin, told = [], time.monotonic(), 0
    with open(output, "w") as file:
        child = subprocess.Popen(
            process.pinned(process.CLIENT_CPU, command), stdin=subprocess.DEVNULL, stdout=file, stderr=file)
    try:
        while child.poll() is None:
            passed = time.monotonic() - begin
            if passed > limit:
                raise SystemExit(f"compare: errand took more than {limit:.0f} s")
            size = process.resident(child.pid)
            if size:
                samples.append((passed, size))
            if size and passed - told >= 30:
                told = passed
                say(f"  {passed:5.0f} s {size / 1e6:8.1f} MB")
            time.sleep(0.5)
    finally:
        if child.poll() is None:
            child.kill()
        child.wait()
    return samples, child.returncode
