"""Callers in a closed loop that know what became of each request."""

import asyncio
import threading


class Load(threading.Thread):
    """Each caller ends when its connection is refused. `lost`: requests without a whole answer. `unread` counts the
    requests without a byte of an answer while the gateway shuts down (`ending`): the gateway need not have read
    them."""

    def __init__(self, port, path, callers):
        super().__init__(daemon=True)
        self.port, self.callers = port, callers
        self.request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
        self.answers = self.refused = self.unread = 0
        self.ending = False
        self.lost = []

    def run(self):
        asyncio.run(self._all())

    async def _all(self):
        await asyncio.gather(*(self._caller() for _ in range(self.callers)))

    async def _caller(self):
        while True:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            except OSError:
                self.refused += 1
                return
            try:
                while await self._exchange(reader, writer):
                    pass
            except (OSError, EOFError, ValueError) as error:
                self.lost.append(f"{type(error).__name__}: {error}")
            writer.close()

    async def _exchange(self, reader, writer):
        """Returns whether the connection stays open."""
        try:
            writer.write(self.request)
            await writer.drain()
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
        except (OSError, EOFError) as error:
            # RFC 9112 9.5: a server may close an idle connection while a request is on its way. The caller cannot
            # distinguish this from a loss. The gateway can: its page counts the requests that it has read.
            if not self.ending or getattr(error, "partial", b""):
                raise
            self.unread += 1
            return False
        length = next(line for line in head.split(b"\r\n") if line.startswith(b"content-length:"))
        await reader.readexactly(int(length.partition(b":")[2]))
        self.answers += 1
        return b"\r\nconnection: close\r\n" not in head
