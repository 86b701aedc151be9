"""What the load generators print, read."""

import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from loadtools.programs import (Load, Report, Unreadable, parse_ab, parse_errand, parse_errand_layer,  # noqa: E402
                                parse_h2load, parse_hey, parse_locust, parse_wrk, programs, seconds_of)

WRK = """Running 1s test @ http://127.0.0.1:28321/
  1 threads and 4 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     2.29ms   73.58us   2.83ms   87.62%
    Req/Sec     1.74k    18.90     1.76k    20.00%
  Latency Distribution
     50%    2.27ms
     75%    2.31ms
     90%    2.36ms
     99%    2.62ms
  1736 requests in 1.00s, 171.54KB read
  Socket errors: connect 1, read 2, write 0, timeout 3
  Non-2xx or 3xx responses: 17
Requests/sec:   1730.94
"""
H2LOAD = """finished in 1.00s, 80.00 req/s, 7.93KB/s
requests: 80 total, 80 started, 80 done, 78 succeeded, 2 failed, 0 errored, 0 timeout
status codes: 78 2xx, 0 3xx, 0 4xx, 2 5xx
                     min         max         mean         sd        +/- sd
time for request:     2.34ms      2.82ms      2.54ms        91us    78.75%
time for connect:       16us        46us        34us        13us    75.00%
"""
HEY = """
Summary:
  Total:\t1.0148 secs
  Slowest:\t0.0039 secs
  Requests/sec:\t78.8325

Latency distribution:
  10% in 0.0025 secs
  50% in 0.0027 secs
  90% in 0.0031 secs
  99% in 0.0033 secs

Status code distribution:
  [200]\t80 responses
  [500]\t3 responses

Error distribution:
  [5]\tGet "http://127.0.0.1:28321/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)
"""
AB = """Complete requests:      1698
Failed requests:        4
   (Connect: 0, Receive: 0, Length: 4, Exceptions: 0)
Non-2xx responses:      17
Percentage of the requests served within a certain time (ms)
  50%      2
  66%      2
  90%      3
  99%      5
 100%      6 (longest request)
"""
LOCUST = """Type     Name     # reqs      # fails |    Avg     Min     Max    Med |   req/s  failures/s
--------|--------|-------|-------------|-------|-------|-------|-------|--------|-----------
         Aggregated      400   4(1.00%) |      4       1       9      4 |    3.98        3.98

Response time percentiles (approximated)
Type     Name     50%    66%    75%    80%    90%    95%    98%    99%  99.9% 99.99%   100% # reqs
--------|--------|------|------|------|------|------|------|------|------|------|------|------|------
         Aggregated      4      5     6      7     8     9     10     11     12     13     140      400
"""


class ReportTests(unittest.TestCase):
    def test_wrk(self):
        self.assertEqual(parse_wrk(WRK), Report(1736, 23, 0.00227, 0.00236, 0.00262, 0.00283))

    def test_h2load(self):
        self.assertEqual(parse_h2load(H2LOAD), Report(80, 2, max=0.00282))

    def test_hey(self):
        self.assertEqual(parse_hey(HEY), Report(88, 8, 0.0027, 0.0031, 0.0033, 0.0039))

    def test_hey_without_percentiles(self):
        """Of few requests it prints '0% in 0.0000 secs'."""
        self.assertIsNone(parse_hey(HEY.replace("99% in 0.0033", "0% in 0.0000")).p99)

    def test_ab(self):
        self.assertEqual(parse_ab(AB), Report(1698, 21, 0.002, 0.003, 0.005, 0.006))

    def test_locust(self):
        self.assertEqual(parse_locust(LOCUST), Report(400, 4, 0.004, 0.008, 0.011, 0.14))

    def test_errand(self):
        latency = {"p50_nanoseconds": 2_000_000, "p90_nanoseconds": 3_000_000, "p99_nanoseconds": 4_000_000,
                   "max_nanoseconds": 5_000_000}
        request = {"counts": {"due": 20, "answered": 10, "failed": 1, "timed_out": 2, "unfinished": 3, "never_sent": 4},
                   "rejected": 5, "latency": latency}
        self.assertEqual(parse_errand(json.dumps({"requests": [request]})),
                         Report(20, 15, 0.002, 0.003, 0.004, 0.005))
        request["latency"] = None
        self.assertIsNone(parse_errand(json.dumps({"requests": [request]})).p99)

    def test_errand_of_one_url(self):
        run = {"due": 9, "errors": 1, "latency_microseconds": {"p50": 1000, "p90": 2000, "p99": 3000, "max": 4000}}
        self.assertEqual(parse_errand_layer("errand: first error\n" + json.dumps(run) + "\n"),
                         Report(9, 1, 0.001, 0.002, 0.003, 0.004))

    def test_something_else(self):
        for parse in (parse_wrk, parse_h2load, parse_hey, parse_ab, parse_locust):
            with self.assertRaises(Unreadable):
                parse("apr_pollset_poll: The timeout specified has expired (70007)")

    def test_times(self):
        self.assertAlmostEqual(seconds_of("53us"), 53e-6)
        self.assertAlmostEqual(seconds_of("2m 3s"), 123)
        with self.assertRaises(Unreadable):
            seconds_of("nan")


class CommandTests(unittest.TestCase):
    def test_rates_are_asked_for_where_they_can_be(self):
        load = Load("http://127.0.0.1:80/a", 6, 10, rate=500)
        with tempfile.TemporaryDirectory() as folder:
            os.makedirs(os.path.join(folder, "bin"))
            locust = os.path.join(folder, "bin", "locust")
            with open(locust, "w"):
                os.chmod(locust, 0o700)
            commands = {program.name: program.command(load, folder) for program in programs("/errand", folder)}
        self.assertIn("500", commands["errand"])
        self.assertEqual(commands["errand-users"][-2:], ["--users", "10"])
        self.assertIn("--rps=10", commands["h2load"])
        self.assertEqual(commands["hey"][-5:], ["-c", "50", "-q", "10", "http://127.0.0.1:80/a"])
        self.assertIn("COMPARE_RATE=10", commands["locust"])
        self.assertIn("COMPARE_PATH=/a", commands["locust"])
        self.assertIn("-c10", commands["wrk"])


if __name__ == "__main__":
    unittest.main()
