"""nginx, in clear text and with TLS, and the slow server. Each is started here and ended by its process id."""

import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time

# The value of typed requests, as `Item.sample` of Benchmarks/Rivals has it: 990 bytes.
ITEM = {
    "id": 7,
    "name": "A folding table of oiled beech for six guests, delivered in one piece to a place of your choice",
    "active": True,
    "price": 12.5,
    "tags": ["furniture-and-rooms", "kitchen-and-dining", "solid-wood", "beech", "folding-tables", "indoor", "oiled",
             "in-stock"],
    "address": {"street": "12 Long Meadow Lane", "city": "Market Harborough", "zip": "LE16 7AB",
                "country": "United Kingdom"},
    "items": [{"sku": f"folding-table-of-oiled-beech-part-0{number}-of-08", "count": number, "price": number + 0.25}
              for number in range(1, 9)],
}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def pinned(cpu, command):
    return ["taskset", "-c", str(cpu)] + command if cpu is not None else command


class Servers:
    """A context: the servers run inside it, and have ended after it in any case. `slow_server`: None: no slow server."""

    def __init__(self, template, slow_server, cpu, slow_delay):
        self.template, self.slow_server = template, slow_server
        self.cpu, self.slow_delay = cpu, slow_delay
        self.processes = []

    def __enter__(self):
        self.root = tempfile.mkdtemp(prefix="errand-bench-")
        self.port, self.tls_port, self.slow_port = free_port(), free_port(), free_port()
        try:
            self._start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def _start(self):
        os.makedirs(os.path.join(self.root, "www"))
        with open(os.path.join(self.root, "www", "1m.bin"), "wb") as file:
            file.write(os.urandom(1 << 20))
        with open(os.path.join(self.root, "www", "64k.bin"), "wb") as file:
            file.write(os.urandom(1 << 16))
        with open(os.path.join(self.root, "www", "1k.bin"), "wb") as file:
            file.write(os.urandom(1 << 10))
        with open(os.path.join(self.root, "www", "1g.bin"), "wb") as file:
            file.truncate(1 << 30)  # a sparse file, which takes no space on the disk
        item = json.dumps(ITEM, separators=(",", ":"))
        self.item = os.path.join(self.root, "item.json")
        with open(self.item, "w") as file:
            file.write(item)
        self._certify()
        with open(self.template) as file:
            text = file.read()
        for mark, value in (("ROOT", self.root), ("PORT", self.port), ("TLS", self.tls_port), ("ITEM", item)):
            text = text.replace(f"@{mark}@", str(value))
        config = os.path.join(self.root, "nginx.conf")
        with open(config, "w") as file:
            file.write(text)
        errors = os.path.join(self.root, "error.log")
        self._run([shutil.which("nginx") or "/usr/sbin/nginx", "-c", config, "-e", errors], self.port)
        if self.slow_server:
            self._run([self.slow_server, str(self.slow_port), str(self.slow_delay)], self.slow_port)

    def _certify(self):
        """A certificate for this run, and its own authority."""
        self.authority = os.path.join(self.root, "server.pem")
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
             "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
             "-keyout", os.path.join(self.root, "server.key"), "-out", self.authority],
            check=True, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def _run(self, command, port):
        process = subprocess.Popen(pinned(self.cpu, command), stdin=subprocess.DEVNULL)
        self.processes.append(process)
        for _ in range(100):
            if process.poll() is not None:
                raise SystemExit(f"bench: {command[0]} ended with {process.returncode}")
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return
            except OSError:
                time.sleep(0.05)
        raise SystemExit(f"bench: {command[0]} did not start listening")

    def __exit__(self, *_):
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                try:
                    process.wait(5)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
        shutil.rmtree(self.root, ignore_errors=True)

    def warm(self, cell):
        """Reads a file of the cell once, so that the first program of a run does not wait for it. Returns its size."""
        buffer, size = bytearray(1 << 20), 0
        with open(os.path.join(self.root, "www", os.path.basename(cell.path)), "rb", buffering=0) as file:
            while count := file.readinto(buffer):
                size += count
        return size

    def url(self, cell):
        scheme = "https" if cell.server == "tls" else "http"
        port = {"http": self.port, "tls": self.tls_port, "slow": self.slow_port}[cell.server]
        return f"{scheme}://127.0.0.1:{port}{cell.path}"
