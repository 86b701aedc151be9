"""The truth of each case, verdicts, histograms and sums."""

import base64
import os
import struct
import sys
import unittest
import zlib

sys.path[:0] = [os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))]
from loadtools import hdr, shares, tables  # noqa: E402
from loadtools.cases import at, cases, scheduled  # noqa: E402
from loadtools.programs import Errand, Report  # noqa: E402
from loadtools.truth import Seen, judge, seen  # noqa: E402


def case(name):
    return next(one for one in cases(6) if one.name == name)


class TruthTests(unittest.TestCase):
    def test_percentiles(self):
        self.assertEqual([at([1, 2, 3, 4], percent) for percent in (0, 25, 50, 99, 100)], [1, 1, 2, 4, 4])
        self.assertIsNone(at([], 50))

    def test_delays_do_not_depend_on_luck(self):
        truth = scheduled(case("delays"), 500, 6)
        self.assertEqual((truth.requests, truth.errors, truth.unanswered), (3000, 0, 0))
        for percent, delay in ((50, 0.005), (88, 0.005), (90, 0.05), (98, 0.05), (99, 0.5), (100, 0.5)):
            self.assertAlmostEqual(truth.at(percent), delay, delta=0.001)

    def test_users_wait_for_the_rest_of_a_stall(self):
        truth = scheduled(case("stall"), 500, 6)
        self.assertEqual(truth.requests, 3000)
        self.assertAlmostEqual(truth.at(50), 0.002, delta=0.001)
        # A sixth waits, evenly from 0 to 1 s.
        self.assertAlmostEqual(truth.at(90), 0.402, delta=0.05)
        self.assertAlmostEqual(truth.at(99), 0.942, delta=0.05)
        self.assertAlmostEqual(truth.at(100), 1.002, delta=0.05)

    def test_users_of_a_silence_have_no_answer(self):
        truth = scheduled(case("silence"), 500, 6)
        self.assertAlmostEqual(truth.unanswered, 500, delta=2)
        self.assertAlmostEqual(truth.at(100), 1, delta=0.01)

    def test_errors(self):
        self.assertEqual(scheduled(case("errors"), 500, 6).errors, 30)

    def test_the_record_of_a_server(self):
        record = [[0, 0.1, 200], [1, 1.3, 500], [2, None, 500]]
        found = seen(record)
        self.assertEqual((found.requests, found.errors, found.unanswered), (3, 1, 1))
        self.assertAlmostEqual(found.max, 0.3)


class VerdictTests(unittest.TestCase):
    server = Seen(3000, 0, 0, 0.002, 0.002, 0.002, 0.003)

    def judged(self, name, *report, server=None):
        return judge(Report(3000, *report), scheduled(case(name), 500, 6), server or self.server, case(name))

    def test_right(self):
        self.assertEqual(self.judged("stall", 0, 0.0025, 0.41, 0.95, 1.01), [])

    def test_too_low(self):
        self.assertEqual(self.judged("stall", 0, 0.0025, 0.003, 0.004, 1.01), ["p90 too low", "p99 too low"])

    def test_too_high(self):
        self.assertEqual(self.judged("stall", 0, 0.5, 0.41, 0.95, 1.01), ["p50 too high"])

    def test_nothing_said(self):
        self.assertEqual(self.judged("stall", 0, None, None, 0.95, 1.01), ["no p50", "no p90"])

    def test_who_waits_on_has_waited_longer(self):
        server = Seen(3000, 0, 500, 0.002, 0.002, 0.002, 0.003)
        self.assertEqual(self.judged("silence", 500, 0.002, 2.4, 2.9, 3, server=server), [])
        self.assertEqual(self.judged("silence", 0, 0.002, 2.4, 2.9, 3, server=server), ["0 of 500 errors"])

    def test_no_report(self):
        self.assertEqual(judge(None, None, self.server, case("silence")), ["no report"])

    def test_the_table(self):
        truth = scheduled(case("errors"), 500, 6)
        text = tables.truth([(case("errors"), truth, [
            (Errand("/errand"), Report(3000, 30, 0.002, 0.002, 0.002, 1.5), self.server, []),
            (Errand("/errand"), None, self.server, ["no report"])])])
        self.assertIn("| *users on schedule* | 3,000 | 2.07 ms | 2.07 ms | 2.07 ms | 2.07 ms | 30 | | |", text)
        self.assertIn("| errand | 3,000 | 2 ms | 2 ms | 2 ms | 1.50 s | 30 | 0 | **right** |", text)
        self.assertIn("| errand | - | - | - | - | - | - | 0 | no report |", text)


def encoded(counts):
    """Of counts below 64 by index."""
    data, last = b"", 0
    for index, count in sorted(counts.items()):
        if index > last:
            data += bytes([(index - last) * 2 - 1])
        data += bytes([count * 2])
        last = index + 1
    plain = struct.pack(">IIIIQQQ", 0x1C849313, len(data), 0, 3, 1, 1 << 20, 0) + data
    packed = zlib.compress(plain)
    return base64.b64encode(struct.pack(">II", 0x1C849314, len(packed)) + packed).decode()


class SumTests(unittest.TestCase):
    def test_histograms(self):
        self.assertEqual(hdr.decode(encoded({0: 1, 5: 7, 6: 2, 50: 3})), {0: 1, 5: 7, 6: 2, 50: 3})
        self.assertEqual(hdr.add([{1: 2}, {1: 3, 4: 1}]), {1: 5, 4: 1})
        with self.assertRaises(ValueError):
            hdr.decode(base64.b64encode(b"something else").decode())

    @staticmethod
    def result(due, histogram):
        text = {"hdr": encoded(histogram)}
        return {"requests": [{
            "name": "a", "counts": {"due": due}, "traffic": {"head_bytes_sent": due}, "statuses": {"200": due},
            "rejected": 0, "attempts": due, "latency": text, "send_delay": None, "service_time": text}]}

    def test_an_exact_merge(self):
        parts = [self.result(2, {1: 2}), self.result(3, {1: 1, 9: 2})]
        self.assertEqual(shares.merge_errors(parts, self.result(5, {1: 3, 9: 2})), [])

    def test_a_merge_that_lost_something(self):
        parts = [self.result(2, {1: 2}), self.result(3, {1: 1, 9: 2})]
        wrong = shares.merge_errors(parts, self.result(4, {1: 3, 8: 2}))
        self.assertTrue(any("counts are" in text for text in wrong), wrong)
        self.assertTrue(any("histogram latency" in text for text in wrong), wrong)

    def test_shares_are_the_plan(self):
        self.assertEqual(shares.plan_errors(self.result(5, {1: 5}), self.result(5, {2: 5})), [])
        self.assertEqual(len(shares.plan_errors(self.result(5, {1: 5}), self.result(4, {2: 4}))), 1)


if __name__ == "__main__":
    unittest.main()
