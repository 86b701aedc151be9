"""What wrk and h2load print, read."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
from harness.generators import microseconds, parse_h2load, parse_wrk  # noqa: E402

WRK = """Running 1s test @ http://127.0.0.1:8080/small
  1 threads and 4 connections
  27712 requests in 1.00s, 8.14MB read
  Non-2xx or 3xx responses: 12
result {"requests": 1000, "errors": 3, "refused": 12, "microseconds": 2002857, "min": 17, "max": 1000}
"""

H2LOAD = """starting benchmark...
progress: 100% done

finished in 1.25s, 1600.00 req/s, 3.15MB/s
requests: 2000 total, 2000 started, 1999 done, 1989 succeeded, 11 failed, 1 errored, 0 timeout
status codes: 1989 2xx, 0 3xx, 10 4xx, 0 5xx
traffic: 154.49KB (158196) total, 95.70KB (98000) headers (space savings 50.51%), 23.44KB (24000) data
                     min         max         mean         sd        +/- sd
time for request:       53us      5.00ms      1.06ms      1.20ms    87.10%
time for connect:     3.81ms      4.22ms      4.02ms       166us    50.00%
"""


class WrkTests(unittest.TestCase):
    def test_counts_and_percentiles(self):
        run = parse_wrk(WRK)
        self.assertEqual(run["requests"], 1003)
        self.assertEqual(run["errors"], 3)
        self.assertEqual(run["status"], {"200": 988, "other": 12})
        self.assertAlmostEqual(run["seconds"], 2.002857)
        self.assertEqual(run["latency_microseconds"], {
            "min": 17, "mean": None, "p50": None, "p90": None, "p99": None, "p999": None, "max": 1000})

    def test_no_result(self):
        with self.assertRaises(SystemExit):
            parse_wrk("unable to connect to 127.0.0.1:1 Connection refused")


class H2LoadTests(unittest.TestCase):
    def test_counts_and_times(self):
        run = parse_h2load(H2LOAD)
        self.assertEqual(run["requests"], 2000)
        self.assertEqual(run["errors"], 1)
        self.assertEqual(run["status"], {"200": 1989, "4xx": 10})
        self.assertEqual(run["bytes_received"], 24000)
        self.assertAlmostEqual(run["seconds"], 1.25)
        latency = run["latency_microseconds"]
        self.assertEqual((latency["min"], latency["max"], latency["mean"]), (53, 5000, 1060))
        self.assertIsNone(latency["p99"])

    def test_something_else(self):
        with self.assertRaises(SystemExit):
            parse_h2load("h2load: unrecognized option")

    def test_times(self):
        self.assertEqual(microseconds("166us"), 166)
        self.assertEqual(microseconds("5.00ms"), 5000)
        self.assertEqual(microseconds("2m 3s"), 123e6)
        with self.assertRaises(SystemExit):
            microseconds("nan")


if __name__ == "__main__":
    unittest.main()
