"""How each program is called for a cell."""

import glob
import os
import shutil
import subprocess

from . import generators
from .cells import BARE, BEYOND_SWIFT, BUFFERS, CURL, GENERATORS, TOOLS, URLSESSION

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CORE_BUILD = os.path.join(ROOT, ".build", "bench-core")
RIVALS_BUILD = os.path.join(ROOT, ".build", "bench-rivals")
BEYOND_BUILD = {"reqwest": os.path.join(ROOT, ".build", "bench-rivals-rust"),
                "go": os.path.join(ROOT, ".build", "bench-rivals-go")}
TOOL = os.path.join(ROOT, ".build", "release", "errand")
# Debian's cargo and registry, which know the crates of Debian. Another cargo in PATH may not know them.
CARGO, CRATES = "/usr/bin/cargo", "/usr/share/cargo/registry"
JSON_FIELD = ("-H", "Content-Type: application/json")
# So much slower than the others that a run with a tenth of the requests takes as long.
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
    """Whether `errand bench` runs the program; its requests are neither typed nor rich."""
    return program in MODES and not (cell.typed or cell.rich)


def installed(program):
    """Whether the program can be run. Known after the build: rivals beyond Swift are built only if their toolchains are
    installed."""
    if program in BEYOND_SWIFT:
        return os.path.exists(executable_of(program))
    return program not in GENERATORS + CURL or shutil.which(program) is not None


def needs_swift(program):
    return program not in BARE + ("core",) + BEYOND_SWIFT + GENERATORS + CURL


def reqwest_version():
    """The version of Debian's crate; None if the crate or cargo is missing."""
    found = [os.path.basename(path) for path in glob.glob(os.path.join(CRATES, "reqwest-0.11.*"))]
    return found[0].partition("-")[2] if found and os.path.exists(CARGO) else None


def build_beyond_swift(program):
    """Does nothing if the toolchain is missing."""
    def run(folder, *command, **variables):
        subprocess.run(command, cwd=os.path.join(ROOT, "Benchmarks", folder), check=True, stdout=2,
                       env={**os.environ, **variables})

    if program == "reqwest" and reqwest_version():
        # Runs in its folder, because cargo looks for its configuration from there upwards.
        run("RivalsRust", CARGO, "build", "--release", "--target-dir", BEYOND_BUILD[program], RUSTC="/usr/bin/rustc")
    if program == "go" and shutil.which("go"):
        run("RivalsGo", "go", "build", "-o", executable_of(program), ".", GOFLAGS="-mod=mod")


def executable_of(program):
    """The executable of a rival beyond Swift."""
    name = {"reqwest": "release/rival-reqwest", "go": "rival-go"}[program]
    return os.path.join(BEYOND_BUILD[program], name)


def build(programs, cells):
    def run(*command):
        subprocess.run(command, cwd=ROOT, check=True, stdout=2)

    run("cmake", "-S", "Benchmarks/Core", "-B", CORE_BUILD, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
        "-DBENCH_CORE=" + ("ON" if "core" in programs else "OFF"))
    run("ninja", "-C", CORE_BUILD)
    pairs = [(program, cell) for cell in cells for program in programs if program in cell.programs]
    for program in sorted({program for program, _ in pairs if program in BEYOND_SWIFT}):
        build_beyond_swift(program)
    if any(uses_tool(*pair) or pair[0] in TOOLS and pair[0] not in CURL for pair in pairs):
        run("swift", "build", "-c", "release", "--product", "errand")
    others = [pair for pair in pairs if not uses_tool(*pair) and pair[0] not in TOOLS and needs_swift(pair[0])]
    if others:
        run("swift", "build", "-c", "release", "--package-path", "Benchmarks/Rivals", "--scratch-path", RIVALS_BUILD)


def command_of(program, cell, servers, rate):
    """The command line. `rate`: requests per second of a paced cell."""
    count, warmup = cell.requests, cell.warmup
    if program in SLOW:
        count, warmup = max(cell.concurrency * 4, count // 10), max(cell.concurrency, warmup // 10)
    load = [servers.url(cell), "-c", str(cell.concurrency), "-n", str(count)]
    if cell.paced:
        load += ["--rate", str(rate), "--tick", "1ms" if uses_tool(program, cell) else "1000"]
    if cell.server == "tls":
        load += ["--cacert", servers.authority]
    if program in BARE + ("core",):
        buffer = ["--buffer-size", str(BUFFERS[program])] if program in BUFFERS else []
        return [os.path.join(CORE_BUILD, program_file(program))] + load + ["-w", str(warmup)] + flags(
            cell, servers, typed=False) + buffer
    if program in BEYOND_SWIFT:
        return [executable_of(program)] + load + ["-w", str(warmup)] + flags(cell, servers, typed=True)
    if uses_tool(program, cell):
        return [TOOL, "bench"] + load + [
            "--warm-up", str(warmup), *MODES[program], "--http-version", "2" if cell.http2 else "1.1",
            "--loops", "1", "--json", "--no-progress"]
    executable, *mode = RIVAL_MODES.get(program) or ("errand-modes", *MODES[program])
    return [os.path.join(RIVALS_BUILD, "release", executable)] + load + ["-w", str(warmup), *mode] + flags(
        cell, servers, typed=program not in ("closures", "async"))


def program_file(program):
    return "core_bench" if program == "core" else "bare_loop"


def flags(cell, servers, typed):
    out = ["--http2"] if cell.http2 else []
    if cell.rich:
        out.append("--rich")
    if cell.typed:
        # The same bytes, without encoding and decoding.
        out += ["--typed"] if typed else ["--method", "POST", "--body-file", servers.item, *JSON_FIELD]
    return out


def generate(program, cell, servers, cpu):
    """Runs wrk or h2load instead of a client."""
    url = servers.url(cell)
    if program == "wrk":
        return generators.wrk(url, cell.concurrency, 2, cpu)
    connections, streams = (1, cell.concurrency) if cell.http2 else (cell.concurrency, 1)
    return generators.h2load(url, connections, streams, cell.requests, cpu, http1=not cell.http2)
