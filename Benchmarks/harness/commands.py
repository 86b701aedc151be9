"""How each program is called for a cell."""

import os
import shutil
import subprocess

from . import generators
from .cells import GENERATORS, URLSESSION

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CORE_BUILD = os.path.join(ROOT, ".build", "bench-core")
RIVALS_BUILD = os.path.join(ROOT, ".build", "bench-rivals")
JSON_FIELD = ("-H", "Content-Type: application/json")
# So much slower than the others that a tenth of the requests is as long a run.
SLOW = URLSESSION
MODES = {
    "closures": ("--mode", "closure"),
    "closures-inline": ("--mode", "closure-inline"),
    "async": ("--mode", "async"),
    "async-on-queue": ("--mode", "async-on-queue"),
    "batch": ("--mode", "batch"),
    "memory": ("--mode", "closure", "--cache", "memory"),
    "http": ("--mode", "closure", "--cache", "memory-http"),
    "sqlite": ("--mode", "closure", "--cache", "sqlite"),
}
RIVAL_MODES = {
    "async-http-client": ("rival-async-http-client", "--mode", "async-on-loop"),
    "async-http-client-future": ("rival-async-http-client", "--mode", "future"),
    "async-http-client-async": ("rival-async-http-client", "--mode", "async"),
    "urlsession": ("rival-urlsession", "--mode", "async"),
    "decoder": ("errand-modes", "--mode", "decoder"),
    "typed": ("errand-modes", "--mode", "closure"),
    "typed-async": ("errand-modes", "--mode", "async"),
}


def uses_tool(program, cell):
    """Whether `errand bench` runs it; its requests are neither typed nor rich."""
    return program in MODES and not (cell.typed or cell.rich)


def installed(program):
    return program not in GENERATORS or shutil.which(program) is not None


def build(programs, cells):
    def run(*command):
        subprocess.run(command, cwd=ROOT, check=True, stdout=2)

    run("cmake", "-S", "Benchmarks/Core", "-B", CORE_BUILD, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
        "-DBENCH_CORE=" + ("ON" if "core" in programs else "OFF"))
    run("ninja", "-C", CORE_BUILD)
    pairs = [(program, cell) for cell in cells for program in programs if program in cell.programs]
    if any(uses_tool(*pair) for pair in pairs):
        run("swift", "build", "-c", "release", "--product", "errand")
    others = [pair for pair in pairs if not uses_tool(*pair) and pair[0] not in GENERATORS + ("bare", "core")]
    if others:
        run("swift", "build", "-c", "release", "--package-path", "Benchmarks/Rivals", "--scratch-path", RIVALS_BUILD)


def command_of(program, cell, servers, rate):
    """The command line; `rate`: requests a second of a paced cell."""
    count, warmup = cell.requests, cell.warmup
    if program in SLOW:
        count, warmup = max(cell.concurrency * 4, count // 10), max(cell.concurrency, warmup // 10)
    load = [servers.url(cell), "-c", str(cell.concurrency), "-n", str(count)]
    if cell.paced:
        load += ["--rate", str(rate), "--tick", "1ms" if uses_tool(program, cell) else "1000"]
    if cell.server == "tls":
        load += ["--cacert", servers.authority]
    if program in ("bare", "core"):
        return [os.path.join(CORE_BUILD, program_file(program))] + load + ["-w", str(warmup)] + flags(
            cell, servers, typed=False)
    if uses_tool(program, cell):
        return [os.path.join(ROOT, ".build", "release", "errand"), "bench"] + load + [
            "--warm-up", str(warmup), *MODES[program], "--http-version", "2" if cell.http2 else "1.1",
            "--loops", "1", "--json", "--no-progress"]
    executable, *mode = RIVAL_MODES.get(program) or ("errand-modes", *MODES[program])
    return [os.path.join(RIVALS_BUILD, "release", executable)] + load + ["-w", str(warmup), *mode] + flags(
        cell, servers, typed=program not in ("closures", "async"))


def program_file(program):
    return {"bare": "bare_loop", "core": "core_bench"}[program]


def flags(cell, servers, typed):
    out = ["--http2"] if cell.http2 else []
    if cell.rich:
        out.append("--rich")
    if cell.typed:
        # Without the encoding and decoding: the same bytes.
        out += ["--typed"] if typed else ["--method", "POST", "--body-file", servers.item, *JSON_FIELD]
    return out


def generate(program, cell, servers, cpu):
    """Runs wrk or h2load in place of a client."""
    url = servers.url(cell)
    if program == "wrk":
        return generators.wrk(url, cell.concurrency, 2, cpu)
    connections, streams = (1, cell.concurrency) if cell.http2 else (cell.concurrency, 1)
    return generators.h2load(url, connections, streams, cell.requests, cpu, http1=not cell.http2)
