"""curl and the tool, each for one body: the cost of a process from its start to its end."""

import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time

from .commands import TOOL
from .servers import pinned

# Files are made here if there is room, so that nothing waits for a disk.
MEMORY = "/dev/shm"
STEP = 0.02


def transfer(program, cell, servers, cpu, limit):
    """One run, with all or some of the keys that the other programs print."""
    size = servers.warm(cell)
    folder = tempfile.mkdtemp(prefix="errand-bench-", dir=place(servers.root, size)) if cell.stored else None
    try:
        output = os.path.join(folder, "body") if folder else "-"
        run = _run(pinned(cpu, command(program, servers.url(cell), output)), limit)
        if folder and os.path.getsize(output) != size:
            raise SystemExit(f"bench: {program} in {cell.name} wrote {os.path.getsize(output):,} of {size:,} bytes")
    finally:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)
    return {**run, "bytes_received": size, "mode": program, "connections": 1, "loops": 1}


def place(other, size):
    """The folder to make a file in."""
    try:
        room = os.statvfs(MEMORY)
    except OSError:
        return other
    return MEMORY if room.f_bavail * room.f_frsize > 2 * size else other


def command(program, url, output):
    if program == "curl":
        return ["curl", "-q", "--silent", "--show-error", "--fail", "--noproxy", "*", "-o", output, url]
    if program == "download":
        return [TOOL, "download", "--quiet", "--http-version", "1.1", "-o", output, url]
    return [TOOL, "fetch", "--fail", "--http-version", "1.1", "-o", output, url]


def _run(words, limit):
    began = time.monotonic()
    child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    over, peaks = threading.Event(), [0]
    watch = threading.Thread(target=_watch, args=(child, began + limit, over, peaks))
    watch.start()
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.monotonic() - began
    over.set()
    watch.join()
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        why = f"took more than {limit:.0f} s" if seconds > limit else f"ended with {child.returncode}"
        raise SystemExit(f"bench: {' '.join(words)} {why}")
    return {
        "requests": 1,
        "errors": 0,
        "seconds": seconds,
        "requests_per_second": 1 / seconds,
        "cpu_user_seconds": usage.ru_utime,
        "cpu_system_seconds": usage.ru_stime,
        "cpu_microseconds_per_request": (usage.ru_utime + usage.ru_stime) * 1e6,
        "peak_resident_bytes": max(peaks),
        "status": {"200": 1},
    }


def _watch(child, end, over, peaks):
    """Reads the peak repeatedly. ru_maxrss at the end would be at least that of this process, because exec keeps it."""
    while not over.wait(STEP):
        peaks.append(peak_resident(child.pid))
        if time.monotonic() > end:
            os.kill(child.pid, signal.SIGKILL)


def peak_resident(pid):
    """The peak so far, in bytes; 0 if the process has no memory any more."""
    try:
        with open(f"/proc/{pid}/status") as file:
            found = next((line for line in file if line.startswith("VmHWM:")), "VmHWM: 0 kB")
    except OSError:
        return 0
    return int(found.split()[1]) * 1024
