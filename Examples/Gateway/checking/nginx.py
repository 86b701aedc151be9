"""A server upstream that can be stalled, killed and started again on its port."""

import os
import shutil
import signal
import socket
import subprocess
import time


class Nginx:
    """A context: nothing of it is left after it."""

    def __init__(self, template, folder, port):
        self.template, self.port = template, port
        self.root = os.path.join(folder, f"nginx-{port}")
        self.url = f"http://127.0.0.1:{port}"
        self.process = None

    def __enter__(self):
        os.makedirs(self.root)
        with open(self.template) as file:
            text = file.read().replace("@ROOT@", self.root).replace("@PORT@", str(self.port))
        self.config = os.path.join(self.root, "nginx.conf")
        with open(self.config, "w") as file:
            file.write(text)
        return self

    def start(self):
        program = shutil.which("nginx") or "/usr/sbin/nginx"
        self.process = subprocess.Popen([program, "-c", self.config, "-e", os.path.join(self.root, "error.log")],
                                        stdin=subprocess.DEVNULL)
        for _ in range(1200):
            if self.process.poll() is not None:
                raise SystemExit(f"check: nginx ended with {self.process.returncode}")
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.05)
        raise SystemExit("check: nginx did not start listening")

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()

    def __exit__(self, *_):
        self.kill()
