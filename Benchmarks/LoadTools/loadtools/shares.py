"""Four shares of a plan that run at the same time and are merged, compared with one instance of the whole plan."""

import dataclasses
import json
import os
import subprocess
import sys
import tempfile
import time

from harness.servers import free_port

from . import hdr, process
from .cases import cases
from .truth import HERE

COUNT = 4
HISTOGRAMS = ("latency", "send_delay", "service_time")


def plan(port, rate, seconds):
    return {
        "name": "shares",
        "scenarios": [{
            "name": "pages", "rate": rate, "spacing": "poisson", "max_users": 4000, "duration": f"{seconds}s",
            "requests": [
                {"name": "often", "url": f"http://127.0.0.1:{port}/often", "weight": 3},
                {"name": "seldom", "url": f"http://127.0.0.1:{port}/seldom"},
            ],
        }],
    }


def by_name(result):
    return {request["name"]: request for request in result["requests"]}


def buckets(request, name):
    return hdr.decode(request[name]["hdr"]) if request[name] else {}


def merge_errors(parts, merged):
    """The places where the merged result is not exactly the sum of its parts: counts, statuses, traffic, all buckets."""
    out, whole = [], by_name(merged)
    names = {name for part in parts for name in by_name(part)}
    if names != set(whole):
        out.append(f"the names are {sorted(whole)}, expected {sorted(names)}")
    for name in names & set(whole):
        pieces = [by_name(part)[name] for part in parts if name in by_name(part)]
        for member in ("counts", "traffic", "statuses"):
            sums = {}
            for piece in pieces:
                for key, count in piece[member].items():
                    sums[key] = sums.get(key, 0) + count
            if sums != whole[name][member]:
                out.append(f"{name}: {member} are {whole[name][member]}, expected {sums}")
        for member in ("rejected", "attempts"):
            if sum(piece[member] for piece in pieces) != whole[name][member]:
                out.append(f"{name}: {member} is {whole[name][member]}")
        for member in HISTOGRAMS:
            if hdr.add(buckets(piece, member) for piece in pieces) != buckets(whole[name], member):
                out.append(f"{name}: the histogram {member} is not the sum of the parts")
    return out


def plan_errors(one, merged):
    """The difference if the four shares did not have exactly the requests of the plan."""
    def due(result):
        return {name: request["counts"]["due"] for name, request in by_name(result).items()}

    return [] if due(one) == due(merged) else [f"due are {due(merged)}, and of one instance {due(one)}"]


@dataclasses.dataclass
class Found:
    """The results of one instance and of the merge; the differences; the output of errand bench compare for the two
    results, and its exit code. `again`: the exit code for two runs of one instance, which shows the noise."""

    one: dict
    merged: dict
    wrong: list
    text: str
    code: int
    again: int


def run(tool, rate, seconds, say=print):
    with tempfile.TemporaryDirectory(prefix="errand-loadtools-") as folder:
        def path(name):
            return os.path.join(folder, name)

        def load(name):
            with open(path(name)) as file:
                return json.load(file)

        port = free_port()
        with open(path("plan.json"), "w") as file:
            json.dump(plan(port, rate, seconds), file)
        bench = process.pinned(process.CLIENT_CPU, [tool, "bench", path("plan.json"), "--no-progress", "--loops", "1"])

        def served(commands):
            """Runs all commands at the same time, with their own server."""
            server = [sys.executable, "-m", "loadtools.server", cases(seconds)[0].name, str(seconds), str(port),
                      path("record.json")]
            with process.Service(server, port, cwd=HERE):
                children = [subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
                            for command in commands]
                try:
                    for child in children:
                        if child.wait(seconds + 60) != 0:
                            raise SystemExit(f"compare: errand bench ended with {child.returncode}")
                finally:
                    for child in children:
                        if child.poll() is None:
                            child.kill()
                            child.wait()

        served([bench + ["-o", path("one.json")]])
        begin = f"{time.time() + 2:.3f}"
        served([bench + ["-o", path(f"{number}.json"), "--share", f"{number}/{COUNT}", "--start-at", begin]
                for number in range(1, COUNT + 1)])
        parts = [f"{number}.json" for number in range(1, COUNT + 1)]
        subprocess.run([tool, "bench", "merge", "-o", path("all.json"), *map(path, parts)], check=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

        def compared(name):
            done = subprocess.run([tool, "bench", "compare", path("one.json"), path(name)], text=True,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            say(done.stdout)
            return done

        served([bench + ["-o", path("again.json")]])
        again, merge = compared("again.json"), compared("all.json")
        one, merged = load("one.json"), load("all.json")
        wrong = merge_errors([load(part) for part in parts], merged) + plan_errors(one, merged)
        return Found(one, merged, wrong, merge.stdout, merge.returncode, again.returncode)
