"""Counts per request: the difference between two runs, divided by the difference between their numbers of requests."""

import collections
import os
import platform
import re
import subprocess
import tempfile
from dataclasses import dataclass

ALLOCATIONS = "malloc", "calloc", "realloc", "aligned"
SYSTEM_CALLS = "poll", "epoll_ctl", "epoll_wait", "sigaction", "wake", "send", "recv"
CALL_COUNTS = 2_000, 12_000
INSTRUCTION_COUNTS = 500, 4_500
# `poll` with libcurl 7.88: the state of a reused connection is looked up twice. No signal handler is touched.
LIMITS = {"poll": 2.1, "epoll_ctl": 0.05, "sigaction": 0.0, "wake": 0.25}
# One more allocation is too many. The slack is for arrays and jobs that many requests share: a turn of the loop has
# more or fewer of them.
ALLOCATION_SLACK = 0.75
INSTRUCTION_SLACK = 0.03


def _run(command, environment=None):
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   env={**os.environ, **(environment or {})}, timeout=300)


def _counted(commands, more, shim):
    """Calls per request, counted by a preloaded library. The second of the two command lines makes `more` requests more
    than the first."""
    runs = []
    with tempfile.TemporaryDirectory(prefix="errand-calls-") as folder:
        for number, command in enumerate(commands):
            path = os.path.join(folder, str(number))
            _run(command, {"LD_PRELOAD": shim, "ERRAND_CALLS": path})
            with open(path) as file:
                runs.append({name: int(value) for name, value in map(str.split, file)})
    return {name: (runs[1][name] - runs[0][name]) / more for name in runs[0]}


def calls(program, base, mode, shim):
    """Allocations and system calls per request."""
    commands = [[program, base, "/small", str(count), mode] for count in CALL_COUNTS]
    per = _counted(commands, CALL_COUNTS[1] - CALL_COUNTS[0], shim)
    return {"allocations": round(sum(per[name] for name in ALLOCATIONS), 3),
            **{name: round(per[name], 3) for name in SYSTEM_CALLS}}


def allocations(commands, more, shim):
    """Allocations per request of a program of the matrix."""
    per = _counted(commands, more, shim)
    return round(sum(per[name] for name in ALLOCATIONS), 2)


def lowest(runs):
    """The lowest value of each count. Noise only increases counts: answers come one by one if the server did not get the
    processor. Runs are counts by name, or such counts by mode."""
    first = runs[0]
    if not isinstance(first, dict):
        return min(runs)
    return {name: lowest([run[name] for run in runs]) for name in first}


def instructions(program, base, mode):
    """Instructions per request in our own code and Swift's libraries, by callgrind. Those in libcurl and libc
    are left out, because they depend on how bytes happen to arrive together."""
    totals = []
    with tempfile.TemporaryDirectory(prefix="errand-gates-") as folder:
        # callgrind cannot read debug information in a format as new as this.
        stripped = os.path.join(folder, "errand-gates")
        _run(["strip", "-g", "-o", stripped, program])
        for count in INSTRUCTION_COUNTS:
            path = os.path.join(folder, str(count))
            _run(["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={path}", stripped, base, "/small",
                  str(count), mode])
            with open(path, errors="replace") as file:
                objects = by_object(file)
            totals.append(sum(value for name, value in objects.items() if is_own(name)))
    return round((totals[1] - totals[0]) / (INSTRUCTION_COUNTS[1] - INSTRUCTION_COUNTS[0]))


def is_own(name):
    return name.startswith(("errand-gates", "libswift", "libdispatch", "libBlocksRuntime"))


def by_object(lines):
    """Instructions by the file that they are in: callgrind's format of 'ob=' lines and costs."""
    names, current, after_call = {}, "", False
    totals = collections.Counter()
    for line in lines:
        if line.startswith(("ob=", "cob=")):
            match = re.match(r"c?ob=\((\d+)\)(?: (.*))?$", line.strip())
            if match[2]:
                names[match[1]] = os.path.basename(match[2])
            if line.startswith("ob="):
                current = names.get(match[1], "")
        elif line.startswith("calls="):
            # The next line is the callee's cost, which is counted for the callee itself.
            after_call = True
        elif line[:1].isdigit() or line[:1] in ("+", "-", "*"):
            parts = line.split()
            if len(parts) >= 2 and not after_call:
                totals[current] += int(parts[1])
            after_call = False
    return totals


def toolchain(root):
    """The toolchain that the committed counts belong to."""
    def first(command, pattern):
        text = subprocess.run(command, capture_output=True, text=True, check=True, cwd=root).stdout
        return re.search(pattern, text)[1]

    return {
        "swift": first(["swift", "--version"], r"Swift version (\S+)"),
        "libc": platform.libc_ver()[1],
        "architecture": platform.machine(),
    }


@dataclass(frozen=True)
class Verdict:
    line: str
    is_open: bool


# The limit for retries and a breaker that no request needs, relative to a client without them.
RESILIENCE_LIMIT = 1.10


def resilience(found, same_toolchain):
    """The verdict on one run: the instructions that retries and a breaker add to a small request."""
    ratio = found["resilient"]["instructions"] / found["closures"]["instructions"]
    is_open = ratio <= RESILIENCE_LIMIT or not same_toolchain
    word, note = "ok" if is_open else "SHUT", "" if same_toolchain else " (not checked)"
    return Verdict(f"{word:4} resilient / closures   {ratio:>10.3f}  at most {RESILIENCE_LIMIT:g}{note}",
                   is_open)


# Modules that a program which imports only Errand must not contain. Their names are the beginnings of mangled names.
PRODUCTS = "ErrandMetrics", "CoreMetrics", "ErrandTracing", "Tracing", "Instrumentation", "ServiceContextModule"


def symbols_of_products(names):
    """How many lines of the output of `nm` are symbols of the products' modules."""
    marks = tuple(f"$s{len(module)}{module}" for module in PRODUCTS)
    return sum(line.split()[-1].startswith(marks) for line in names if line.strip())


def not_imported(program):
    """The verdict on a program without the products: it must have none of their code, so it pays nothing for them."""
    run = subprocess.run(["nm", "--defined-only", program], check=True, capture_output=True, text=True)
    count = symbols_of_products(run.stdout.splitlines())
    return Verdict(f"{'SHUT' if count else 'ok':4} not imported           {count:>10,}  at most 0 symbols of products",
                   count == 0)


def products(found):
    """The cost that each product adds to a request, compared with the same program that does not use the products."""
    base = found["unused"]

    def line(mode, name):
        value, more = found[mode][name], found[mode][name] - base[name]
        return f"     {mode:12} {name:12} {value:>10,g}  {more:+,g}"

    return [line(mode, name) for mode in found for name in ("instructions", "allocations")]


# The cost that a product may add to a small request with a backend that does nothing. The cost of real backends is
# printed but not judged.
PRODUCT_LIMITS = {
    "metrics-noop": {"instructions": 10_000, "allocations": 1.5},
    "tracing-noop": {"instructions": 9_000, "allocations": 3.5},
}


def product_verdicts(found, same_toolchain):
    """The verdicts on one run: the cost that products add to a small request, compared with the same program that does not
    use the products."""
    out = []
    for mode, limits in PRODUCT_LIMITS.items():
        for name, limit in limits.items():
            more = round(found[mode][name] - found["unused"][name], 3)
            is_open = more <= limit or not same_toolchain
            word, note = "ok" if is_open else "SHUT", "" if same_toolchain else " (not checked)"
            out.append(Verdict(f"{word:4} {mode:12} {name:12} {more:>+10,g}  at most {limit:+,g}{note}", is_open))
    return out


def verdicts(mode, found, committed, same_toolchain, libcurl):
    """The verdicts on one mode. `committed`: its figures with that version of libcurl, or None."""
    out = []
    committed, same_toolchain = committed or found, same_toolchain and committed is not None

    def judge(name, limit, low=None, judged=True):
        value = found[name]
        is_open = not judged or (value <= limit and (low is None or value >= low))
        bound = f"at most {limit:g}" if low is None else f"{low:,g} to {limit:,g}"
        word = "ok" if is_open else "SHUT"
        out.append(Verdict(f"{word:4} {mode:9} {name:12} {value:>10,g}  {bound}{'' if judged else ' (not checked)'}",
                           is_open))

    base = committed["instructions"]
    judge("instructions", round(base * (1 + INSTRUCTION_SLACK)), round(base * (1 - INSTRUCTION_SLACK)),
          same_toolchain)
    judge("allocations", committed["allocations"] + ALLOCATION_SLACK, judged=same_toolchain)
    # libcurl 8 reads as soon as a request is sent, and polls the socket if there was nothing to read.
    early_reads = 0 if libcurl.startswith("7.") else 1
    # A request makes one send and one recv. If the count is lower, calls were not counted.
    judge("send", 1.2, 0.9)
    judge("recv", 1.2 + early_reads, 0.9)
    judge("poll", LIMITS["poll"] + early_reads)
    judge("epoll_ctl", LIMITS["epoll_ctl"])
    judge("sigaction", LIMITS["sigaction"], judged=libcurl.startswith("7.88"))
    judge("wake", LIMITS["wake"])
    return out
