"""The shop, the plan that loads it, the scripted server, and what memory is flat."""

import json
import os
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
from harness.servers import free_port  # noqa: E402
from loadtools import process, soak  # noqa: E402
from loadtools.shop import Shop  # noqa: E402


class ShopTests(unittest.TestCase):
    def setUp(self):
        self.shop = Shop()

    def log_in(self):
        status, fields, value = self.shop.answer("POST", "/login", {}, b'{"name": "ada", "password": "x"}')
        self.assertEqual(status, 200)
        return {"authorization": f"Bearer {value['token']}", "cookie": fields["Set-Cookie"].partition(";")[0]}

    def test_an_order_needs_token_and_cookie_of_one_login(self):
        first, second = self.log_in(), self.log_in()
        self.assertEqual(self.shop.answer("GET", "/items?page=1", first, b"")[0], 200)
        self.assertEqual(self.shop.answer("POST", "/orders", first, b"")[0], 201)
        for fields in ({}, {"authorization": first["authorization"]}, {"cookie": first["cookie"]},
                       {**first, "cookie": second["cookie"]}):
            self.assertEqual(self.shop.answer("POST", "/orders", fields, b"")[0], 401)
        self.assertEqual(self.shop.counts["orders"], [1, 4])

    def test_a_login_needs_name_and_password(self):
        for body in (b"", b"[]", b'{"name": "ada"}', b'{"name": "", "password": "x"}'):
            self.assertEqual(self.shop.answer("POST", "/login", {}, body)[0], 400)

    def test_logins_are_counted_by_name(self):
        self.log_in()
        self.log_in()
        self.shop.answer("POST", "/login", {}, b'{"name": "grace", "password": ""}')
        self.assertEqual(self.shop.names, {"ada": 2})

    def test_other_pages(self):
        self.assertEqual(self.shop.answer("GET", "/ready", {}, b"")[0], 200)
        self.assertEqual(self.shop.answer("GET", "/nothing", {}, b"")[0], 404)
        self.assertEqual(self.shop.counts["other"], [0, 1])


class ServiceTests(unittest.TestCase):
    def served(self, module, *words):
        """Starts the server, asks it for `/` and `/ready`, and returns the statuses and what it wrote at its end."""
        with tempfile.TemporaryDirectory() as folder:
            port, record = free_port(), os.path.join(folder, "record.json")
            command = [sys.executable, "-m", f"loadtools.{module}", *words, str(port), record]
            statuses = []
            with process.Service(command, port, cpu=0, cwd=HERE):
                for path in ("/", "/ready"):
                    try:
                        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=30) as answer:
                            statuses.append(answer.status)
                    except urllib.error.HTTPError as error:
                        statuses.append(error.code)
                        error.close()
            with open(record) as file:
                return statuses, json.load(file)

    def test_the_scripted_server(self):
        statuses, record = self.served("server", "errors", "6")
        self.assertEqual([status for _, _, status in record], statuses)
        self.assertTrue(all(answered is not None and answered >= read for read, answered, _ in record), record)

    def test_the_shop(self):
        statuses, counts = self.served("shop")
        self.assertEqual(statuses, [404, 200])
        self.assertEqual((counts["other"], counts["ready"]), ([0, 1], [1, 0]))

    def test_a_shop_that_takes_its_time(self):
        with tempfile.TemporaryDirectory() as folder:
            port, record = free_port(), os.path.join(folder, "record.json")
            command = [sys.executable, "-m", "loadtools.shop", str(port), record, "0.3"]
            with process.Service(command, port, cpu=0, cwd=HERE):
                begin = time.monotonic()
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/ready", timeout=30) as answer:
                    self.assertEqual(answer.status, 200)
                self.assertGreaterEqual(time.monotonic() - begin, 0.25)


class SoakTests(unittest.TestCase):
    def test_the_plan_is_scaled(self):
        with open(os.path.join(soak.EXAMPLES, "load-plan.json")) as file:
            plan = soak.scaled(json.load(file), 5, 10)
        shop, health = plan["scenarios"]
        self.assertEqual(plan["warm_up"], "5s")
        self.assertEqual([(stage["duration"], stage["to"]) for stage in shop["stages"]],
                         [("30s", 500), ("240s", 500), ("30s", 0)])
        self.assertEqual((health["duration"], health["rate"], health["max_users"]), ("300s", 200, 1000))
        for path in (shop["files"], shop["data"][0]["file"]):
            self.assertTrue(os.path.isabs(path) and os.path.exists(path), path)

    @staticmethod
    def samples(last):
        """30 MB that grow in the ramps, and to `last` MB in between."""
        return [(moment, (10 if moment < 10 else 30 + (last - 30) * moment / 100 if moment < 95 else 99) * 1e6)
                for moment in range(101)]

    def test_flat_memory(self):
        memory = soak.memory(self.samples(30), 100)
        self.assertEqual((memory.first, memory.last, memory.peak), (30e6, 30e6, 99e6))
        self.assertTrue(memory.is_flat)

    def test_growing_memory(self):
        self.assertFalse(soak.memory(self.samples(40), 100).is_flat)

    def test_no_samples(self):
        with self.assertRaises(SystemExit):
            soak.memory([(1, 1)], 100)

    def test_counts_agree(self):
        counts = {"login": [5, 0], "items": [5, 0], "orders": [5, 0], "ready": [9, 0], "metrics": [3, 0]}
        result = {"requests": [{"name": name, "counts": {"answered": counts[place][0] - 1}}
                               for place, name in soak.NAMES.items()]}
        self.assertEqual(soak.disagreements(result, counts), [])
        counts["orders"] = [3, 1]
        self.assertEqual(len(soak.disagreements(result, counts)), 2)


if __name__ == "__main__":
    unittest.main()
