"""A server upstream that tells what it has received."""

import hashlib
import http.server
import json
import select
import socket
import threading
import urllib.parse


class Echo:
    """A context: the server is up inside it. `waiting` is set when a request to `/slow` has arrived. `hung_up` is set
    when a client leaves before its answer has ended."""

    def __init__(self):
        self.waiting = threading.Event()
        self.hung_up = threading.Event()
        self.streamed = 0
        owner = self

        class Handler(_Handler):
            echo = owner

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        self.connections = []

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def stop(self):
        """Ends the connections too."""
        if self.server is None:
            return
        server, self.server = self.server, None
        server.shutdown()
        server.server_close()
        for connection in self.connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def __exit__(self, *_):
        self.stop()


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    cached = 0

    def setup(self):
        super().setup()
        self.echo.connections.append(self.connection)

    def log_message(self, *_):
        pass

    def do_GET(self):
        path = urllib.parse.urlsplit(self.path)
        if path.path == "/slow":
            self.wait()
        elif path.path == "/stream":
            self.stream(int(urllib.parse.parse_qs(path.query)["bytes"][0]))
        elif path.path.startswith("/cached/"):
            type(self).cached += 1
            self.answer(200, str(type(self).cached).encode(), {"Cache-Control": "public, max-age=60"})
        else:
            seen = {"method": self.command, "path": self.path, "fields": self.headers.items()}
            self.answer(200, json.dumps(seen).encode(),
                        {"Connection": "X-Hop", "X-Hop": "1", "Keep-Alive": "timeout=5", "X-Kept": "yes"})

    do_HEAD = do_GET

    def do_POST(self):
        if self.path == "/early":
            self.close_connection = True
            self.answer(413, b"too much", {"Connection": "close"})
            self.connection.shutdown(socket.SHUT_WR)
            self.drain(60)
        elif self.path == "/slow":
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.wait()
        else:
            body = self.body()
            self.answer(200, json.dumps({"bytes": len(body), "sha256": hashlib.sha256(body).hexdigest()}).encode(), {})

    def answer(self, status, body, fields):
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **fields}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def body(self):
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        parts = []
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def stream(self, size):
        self.send_response(200)
        self.send_header("Content-Length", str(size))
        self.end_headers()
        piece = bytes(65536)
        try:
            while self.echo.streamed < size:
                self.echo.streamed += self.connection.send(piece)
        except OSError:
            self.echo.hung_up.set()
        self.close_connection = True

    def wait(self):
        """No answer; notices a client that leaves."""
        self.echo.waiting.set()
        if select.select([self.connection], [], [], 60)[0]:
            self.echo.hung_up.set()
        self.close_connection = True

    def drain(self, seconds):
        """Reads until the client closes the connection, or sends nothing for `seconds`. If the connection were closed
        with unread bytes, a reset would overtake the answer."""
        self.connection.settimeout(seconds)
        try:
            while self.connection.recv(65536):
                pass
        except OSError:
            pass
