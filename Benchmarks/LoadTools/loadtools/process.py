"""Processes. Each is started here, has a time limit, and is ended by its id."""

import os
import signal
import socket
import subprocess
import tempfile
import threading
import time

CLIENT_CPU, SERVER_CPU = 0, 1


def pinned(cpu, command):
    return ["taskset", "-c", str(cpu)] + command


class Run:
    """The output of a program (standard output and standard error), its exit code, its time and its CPU time."""

    def __init__(self, text, code, usage, seconds):
        self.text, self.code, self.seconds = text, code, seconds
        self.cpu_seconds = usage.ru_utime + usage.ru_stime


def run(command, limit, cpu=CLIENT_CPU, cwd=None):
    """Runs a program to its end. It is killed after `limit` seconds, which ends the comparison."""
    begin = time.monotonic()
    with tempfile.TemporaryFile() as output:
        child = subprocess.Popen(
            pinned(cpu, command), stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, cwd=cwd)
        late = threading.Event()

        def give_up():
            late.set()
            child.kill()

        watch = threading.Timer(limit, give_up)
        watch.start()
        try:
            # Not child.wait(): only wait4 returns the resources of this one child.
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        finally:
            watch.cancel()
        output.seek(0)
        text = output.read().decode(errors="replace")
    if late.is_set():
        raise SystemExit(f"compare: {' '.join(command)} took more than {limit:.0f} s:\n{text}")
    return Run(text, child.returncode, usage, time.monotonic() - begin)


class Service:
    """A context: the server listens inside it, and has ended after it."""

    def __init__(self, command, port, cpu=SERVER_CPU, cwd=None, address="127.0.0.1"):
        self.command, self.port, self.cpu, self.cwd, self.address = command, port, cpu, cwd, address

    def __enter__(self):
        self.process = subprocess.Popen(pinned(self.cpu, self.command), stdin=subprocess.DEVNULL, cwd=self.cwd)
        for _ in range(200):
            if self.process.poll() is not None:
                raise SystemExit(f"compare: {self.command[0]} ended with {self.process.returncode}")
            try:
                socket.create_connection((self.address, self.port), 1).close()
                return self
            except OSError:
                time.sleep(0.05)
        self.__exit__()
        raise SystemExit(f"compare: {self.command[0]} did not start listening")

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


def resident(pid):
    """The present resident memory in bytes; None if the process has no memory any more."""
    try:
        with open(f"/proc/{pid}/status") as file:
            found = next((line for line in file if line.startswith("VmRSS:")), None)
    except OSError:
        return None
    return int(found.split()[1]) * 1024 if found else None
