"""Counts per request: the difference of two runs, divided by that of their requests."""

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
# `poll` of libcurl 7.88: two look-ups of a kept connection's state. No signal is touched.
LIMITS = {"poll": 2.1, "epoll_ctl": 0.05, "sigaction": 0.0, "wake": 0.25}
# One more is one too many; the rest is for arrays and jobs that many share, of which a turn has more or fewer.
ALLOCATION_SLACK = 0.75
INSTRUCTION_SLACK = 0.03


def _run(command, environment=None):
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   env={**os.environ, **(environment or {})}, timeout=300)


def _counted(commands, more, shim):
    """Calls per request by the library that is preloaded: of two command lines, the second makes so many more."""
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
    """Per request of a program of the matrix."""
    per = _counted(commands, more, shim)
    return round(sum(per[name] for name in ALLOCATIONS), 2)


def lowest(runs):
    """Of each count: noise only adds, where answers come singly because the server was kept from the processor."""
    runs = list(runs)
    return {name: min(run[name] for run in runs) for name in runs[0]}


def instructions(program, base, mode):
    """Instructions per request in our own code and Swift's libraries, by callgrind. Not in libcurl and libc: what
    those do depends on how bytes happen to arrive together."""
    totals = []
    with tempfile.TemporaryDirectory(prefix="errand-gates-") as folder:
        # callgrind reads no debug information this new.
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
            # The next line is the callee's cost, which it has itself.
            after_call = True
        elif line[:1].isdigit() or line[:1] in ("+", "-", "*"):
            parts = line.split()
            if len(parts) >= 2 and not after_call:
                totals[current] += int(parts[1])
            after_call = False
    return totals


def toolchain(root):
    """What the committed counts are of."""
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


# The aim for retries and a breaker that nothing needs, beside a client without them.
RESILIENCE_AIM = 1.10


def resilience(found):
    """A line on one run: what retries and a breaker add to the instructions of a small request. Not judged."""
    ratio = found["resilient"]["instructions"] / found["closures"]["instructions"]
    return f"     resilient / closures   {ratio:>10.2f}  aim: {RESILIENCE_AIM:g} (not checked)"


def verdicts(mode, found, committed, same_toolchain, libcurl):
    """Of one mode; `committed`: its figures with that version of libcurl, or None."""
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
    # libcurl 8 reads as soon as a request is sent, and looks at the socket when nothing was there.
    early_reads = 0 if libcurl.startswith("7.") else 1
    # A request is one of each: if not, calls go by uncounted.
    judge("send", 1.2, 0.9)
    judge("recv", 1.2 + early_reads, 0.9)
    judge("poll", LIMITS["poll"] + early_reads)
    judge("epoll_ctl", LIMITS["epoll_ctl"])
    judge("sigaction", LIMITS["sigaction"], judged=libcurl.startswith("7.88"))
    judge("wake", LIMITS["wake"])
    return out
