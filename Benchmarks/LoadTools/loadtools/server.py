"""The scripted server: python3 -m loadtools.server CASE SECONDS PORT RECORD

It supports as much of HTTP/1.0 and HTTP/1.1 as load generators need: GET without a body, and keep-alive. SIGTERM ends
it, and it then writes a record to the file RECORD: a list of [read, answered or null, status], in seconds since the first
request."""

import asyncio
import json
import signal
import sys
import time

from .cases import Script, cases

BODY = b"twelve bytes"
REASONS = {200: b"OK", 500: b"Internal Server Error"}


class Server:
    def __init__(self, case):
        self.case, self.script = case, Script(case)
        self.begin = None
        self.record = []

    def now(self):
        return time.monotonic() - self.begin

    def request(self, answer):
        """`answer`: called with the status, or never."""
        if self.begin is None:
            self.begin = time.monotonic()
            if self.case.freeze_at is not None:
                # This blocks the loop: nothing is accepted, read or written meanwhile.
                asyncio.get_running_loop().call_later(self.case.freeze_at, time.sleep, self.case.freeze_for)
        delay, status = self.script.next()
        entry = [self.now(), None, status]
        self.record.append(entry)
        asyncio.get_running_loop().call_later(delay, self._answer, entry, answer)

    def _answer(self, entry, answer):
        if self.case.ends_silent and self.now() >= self.case.silent_from:
            return
        if answer(entry[2]):
            entry[1] = self.now()


class Connection(asyncio.Protocol):
    def __init__(self, server):
        self.server, self.input, self.transport = server, b"", None

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.input += data
        while (end := self.input.find(b"\r\n\r\n")) >= 0:
            head, self.input = self.input[:end].lower(), self.input[end + 4:]
            line = head.split(b"\r\n", 1)[0]
            is_old = line.endswith(b"http/1.0")
            stays = b"\r\nconnection: keep-alive" in head if is_old else b"\r\nconnection: close" not in head
            self.server.request(lambda status, stays=stays: self._write(status, stays))

    def _write(self, status, stays):
        if self.transport.is_closing():
            return False
        self.transport.write(
            b"HTTP/1.1 %d %s\r\nContent-Length: %d\r\nContent-Type: text/plain\r\nConnection: %s\r\n\r\n%s" % (
                status, REASONS[status], len(BODY), b"keep-alive" if stays else b"close", BODY))
        if not stays:
            self.transport.close()
        return True


async def serve(case, port, path):
    server = Server(case)
    over = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, over.set)
    listener = await loop.create_server(lambda: Connection(server), "127.0.0.1", port, backlog=1024)
    await over.wait()
    listener.close()
    with open(path, "w") as file:
        json.dump(server.record, file)


def main():
    name, seconds, port, path = sys.argv[1:]
    case = next(case for case in cases(float(seconds)) if case.name == name)
    asyncio.run(serve(case, int(port), path))


if __name__ == "__main__":
    main()
