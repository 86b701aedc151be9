"""The gateway as a process, its page of metrics, and the requests that are sent to it one by one."""

import http.client
import os
import random
import re
import signal
import socket
import subprocess
import threading
import time


def free_port():
    """Below the ports that the kernel gives to outgoing connections: a server may come back to its port."""
    for _ in range(50):
        port = random.randrange(10_000, 32_000)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise SystemExit("check: no free port was found")


def parsed(text):
    """Name, labels and value of each line."""
    found = []
    for line in text.splitlines():
        match = re.fullmatch(r"([a-z0-9_]+)(?:\{(.*)\})? (\S+)", line)
        if match:
            found.append((match[1], dict(re.findall(r'([a-z0-9_]+)="([^"]*)"', match[2] or "")), float(match[3])))
    return found


def total(lines, name, labels):
    return sum(value for found, has, value in lines
               if found == name and all(has.get(key) == text for key, text in labels.items()))


class Gateway:
    """A context: the process has ended after it. `answers` counts the whole answers that all threads have received."""

    def __init__(self, program, folder, variables):
        self.port = free_port()
        self.authority = f"127.0.0.1:{self.port}"
        self.page = os.path.join(folder, f"metrics-{self.port}.txt")
        self.answers = 0
        self.lock = threading.Lock()
        self.command = [program]
        self.variables = {**os.environ, "GATEWAY_PORT": str(self.port), "GATEWAY_METRICS_FILE": self.page, **variables}

    def __enter__(self):
        self.process = subprocess.Popen(self.command, env=self.variables, stdin=subprocess.DEVNULL)
        try:
            self._listens()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _listens(self):
        for _ in range(2400):
            if self.process.poll() is not None:
                raise SystemExit(f"check: the gateway ended with {self.process.returncode}")
            try:
                self.request("GET", "/healthz", {})
                return
            except OSError:
                time.sleep(0.05)
        raise SystemExit("check: the gateway did not start listening")

    def url(self, path):
        return f"http://{self.authority}{path}"

    def request(self, method, path, fields, body=None):
        """Status, fields with names in lower case, body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            connection.request(method, path, body, fields)
            answer = connection.getresponse()
            read = answer.read()
            self.received(1)
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, read
        finally:
            connection.close()

    def received(self, answers):
        with self.lock:
            self.answers += answers

    def until_answered(self, path, seconds, outcome):
        """Twenty good answers in a row."""
        end, row = time.monotonic() + seconds, 0
        while time.monotonic() < end:
            row = row + 1 if self.request("GET", path, {})[0] == 200 else 0
            if row == 20:
                return
            time.sleep(0.02)
        outcome.expect(False, f"{path} is not answered again after {seconds} s")

    def value(self, name, **labels):
        return total(parsed(self.request("GET", "/metrics", {})[2].decode()), name, labels)

    def total(self, name):
        return self.value(name)

    def last(self, name):
        """Of the page that was written at the end."""
        with open(self.page) as file:
            return total(parsed(file.read()), name, {})

    def stop(self):
        """Returns the exit code; `None`: the gateway had to be killed."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(120)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return None

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
