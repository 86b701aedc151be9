"""The shop that docs/examples/load-plan.json loads: python3 -m loadtools.shop PORT RECORD [DELAY]

It answers after DELAY seconds (default: at once). POST /login with a name and a password sets a cookie and returns a
token. GET /items needs the token. POST /orders needs the token and the cookie of the same login. GET /ready and
GET /metrics need nothing. SIGTERM ends it, and it then writes its counts to the file RECORD:
{"login": [accepted, refused], ..., "names": {"ada": 2}}. "names" are the logins of each name."""

import asyncio
import json
import re
import signal
import sys
import collections

REASONS = {200: "OK", 201: "Created", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found"}
# Logins that are remembered; older ones are forgotten, so that the server's memory is bounded.
MOST_LOGINS = 100_000


class Shop:
    """Answers requests, and counts them."""

    def __init__(self):
        self.logins, self.made = collections.OrderedDict(), 0
        self.counts = {name: [0, 0] for name in ("login", "items", "orders", "ready", "metrics", "other")}
        # The number of logins of each name.
        self.names = collections.Counter()

    def answer(self, method, path, fields, body):
        """Returns the status, the fields, and the value of the body."""
        name = path.split("?", 1)[0].strip("/")
        status, more, value = self._answer(method, name, fields, body)
        self.counts.get(name, self.counts["other"])[status >= 400] += 1
        return status, more, value

    def _answer(self, method, name, fields, body):
        token = fields.get("authorization", "").removeprefix("Bearer ")
        session = re.search(r"(?:^|;\s*)session=([^;]+)", fields.get("cookie", ""))
        match (method, name):
            case ("POST", "login"):
                return self._login(body)
            case ("GET", "items") if token in self.logins:
                return 200, {}, {"items": [{"item": number, "price": number + 0.5} for number in range(20)]}
            case ("POST", "orders") if session and self.logins.get(token) == session[1]:
                return 201, {}, {"order": 1}
            case ("GET", "items") | ("POST", "orders"):
                return 401, {}, {"error": "log in first"}
            case ("GET", "ready" | "metrics"):
                return 200, {}, {"ready": True}
        return 404, {}, {"error": "there is no such page"}

    def _login(self, body):
        try:
            given = json.loads(body)
            is_known = bool(given["name"] and given["password"])
        except (ValueError, KeyError, TypeError):
            is_known = False
        if not is_known:
            return 400, {}, {"error": "a login has a name and a password"}
        self.made += 1
        name = str(given["name"])
        if name in self.names or len(self.names) < MOST_LOGINS:
            self.names[name] += 1
        token, session = f"token-{self.made}", f"session-{self.made}"
        self.logins[token] = session
        if len(self.logins) > MOST_LOGINS:
            self.logins.popitem(last=False)
        return 200, {"Set-Cookie": f"session={session}; Path=/; HttpOnly"}, {"token": token}


class Connection(asyncio.Protocol):
    def __init__(self, shop, delay):
        self.shop, self.delay, self.input, self.transport = shop, delay, b"", None

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.input += data
        while (end := self.input.find(b"\r\n\r\n")) >= 0:
            first, *lines = self.input[:end].decode("latin-1").split("\r\n")
            fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
            after = end + 4 + int(fields.get("content-length", "0"))
            if len(self.input) < after:
                return
            body, self.input = self.input[end + 4:after], self.input[after:]
            method, path, _ = first.split(" ", 2)
            answer = self.shop.answer(method, path, fields, body)
            if self.delay:
                asyncio.get_running_loop().call_later(self.delay, self._write, *answer)
            else:
                self._write(*answer)

    def _write(self, status, fields, value):
        if self.transport.is_closing():
            return
        body = json.dumps(value).encode()
        lines = [f"HTTP/1.1 {status} {REASONS[status]}", "Content-Type: application/json", f"Content-Length: {len(body)}"]
        lines += [f"{name}: {text}" for name, text in fields.items()]
        self.transport.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)


async def serve(port, path, delay=0.0):
    shop, over = Shop(), asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, over.set)
    listener = await loop.create_server(lambda: Connection(shop, delay), "127.0.0.1", port, backlog=4096)
    await over.wait()
    listener.close()
    with open(path, "w") as file:
        json.dump({**shop.counts, "names": shop.names}, file)


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), sys.argv[2], *map(float, sys.argv[3:])))
