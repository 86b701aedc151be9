import unittest

import samples  # noqa: F401 (sets the path)
from harness import counting
from harness.cells import CELLS, LAYERS
from harness.commands import command_of

PROFILE = """events: Ir
ob=(1) /some/where/errand-gates
fl=(1) a.swift
fn=(1) main
+3 10
cob=(2) /lib/libswiftCore.so
cfn=(2) swift_retain
calls=2 0
+1 40
ob=(2)
fn=(2)
0 40
ob=(3) /lib/libcurl.so.4
fn=(3) multi
5 7
"""

FIGURES = {"instructions": 1000, "allocations": 30.0, "poll": 2.0, "epoll_ctl": 0.0, "sigaction": 0.0, "wake": 0.01,
           "send": 1.0, "recv": 1.0}


class CountingTests(unittest.TestCase):
    def shut(self, libcurl="7.88.1", same=True, figures=FIGURES, **changed):
        found = {**FIGURES, **changed}
        return [verdict.line.split()[2] for verdict in counting.verdicts("async", found, figures, same, libcurl)
                if not verdict.is_open]

    def test_costs_are_told_apart_by_object_and_counted_once(self):
        objects = counting.by_object(PROFILE.splitlines(keepends=True))
        self.assertEqual(objects, {"errand-gates": 10, "libswiftCore.so": 40, "libcurl.so.4": 7})
        self.assertEqual(sum(value for name, value in objects.items() if counting.is_own(name)), 50)

    def test_the_committed_figures_pass(self):
        self.assertEqual(self.shut(), [])

    def test_three_percent_either_way(self):
        self.assertEqual(self.shut(instructions=1030), [])
        self.assertEqual(self.shut(instructions=1031), ["instructions"])
        self.assertEqual(self.shut(instructions=969), ["instructions"])
        self.assertEqual(self.shut(instructions=2000, same=False), [])

    def test_without_figures_of_that_libcurl_limits_are_judged_alone(self):
        self.assertEqual(self.shut(figures=None, libcurl="8.5.0", instructions=9999), [])
        self.assertEqual(self.shut(figures=None, libcurl="8.5.0", wake=0.3), ["wake"])

    def test_one_allocation_more_is_too_many(self):
        self.assertEqual(self.shut(allocations=31.0), ["allocations"])

    def test_what_goes_by_uncounted_is_noticed(self):
        self.assertEqual(self.shut(send=0.0, recv=0.0), ["send", "recv"])

    def test_the_lowest_of_each_count(self):
        self.assertEqual(counting.lowest([{"poll": 2.1, "wake": 0.1}, {"poll": 2.0, "wake": 0.9}]),
                         {"poll": 2.0, "wake": 0.1})
        self.assertEqual(counting.lowest([{"async": {"poll": 2.1}}, {"async": {"poll": 2.0}}]),
                         {"async": {"poll": 2.0}})

    def test_system_calls(self):
        self.assertEqual(self.shut(poll=2.2, epoll_ctl=0.06, sigaction=2.0, wake=0.3),
                         ["poll", "epoll_ctl", "sigaction", "wake"])
        self.assertEqual(self.shut(sigaction=2.0, libcurl="8.14.1"), [])

    def test_libcurl_8_reads_once_more(self):
        self.assertEqual(self.shut(poll=3.0, recv=2.0, libcurl="8.14.1"), [])
        self.assertEqual(self.shut(poll=3.0, recv=2.0), ["recv", "poll"])
        self.assertEqual(self.shut(poll=3.2, recv=2.3, libcurl="8.14.1"), ["recv", "poll"])


class ProductTests(unittest.TestCase):
    def test_symbols_of_products_are_found_by_their_module(self):
        names = ["0000 T $s13ErrandMetrics06ClientB0C3runyyYaF", "0000 t $s7Tracing4SpanP", "", "0000 T main",
                 "0000 T $s12ErrandClient7TracingC", "0000 T $s6ErrandAAC"]
        self.assertEqual(counting.symbols_of_products(names), 2)
        self.assertEqual(counting.symbols_of_products(names[2:]), 0)

    def test_what_a_product_adds_has_a_limit(self):
        def shut(metrics, tracing, same=True):
            found = {"unused": {"instructions": 21000, "allocations": 5.0},
                     "metrics-noop": {"instructions": 21000 + metrics[0], "allocations": 5.0 + metrics[1]},
                     "tracing-noop": {"instructions": 21000 + tracing[0], "allocations": 5.0 + tracing[1]}}
            return [verdict.line.split()[1:3] for verdict in counting.product_verdicts(found, same)
                    if not verdict.is_open]

        self.assertEqual(shut((8300, 1.0), (7400, 3.0)), [])
        self.assertEqual(shut((10001, 1.0), (7400, 3.0)), [["metrics-noop", "instructions"]])
        self.assertEqual(shut((8300, 2.0), (9001, 4.0)), [["metrics-noop", "allocations"],
                                                         ["tracing-noop", "instructions"],
                                                         ["tracing-noop", "allocations"]])
        self.assertEqual(shut((50000, 9.0), (50000, 9.0), same=False), [])

    def test_each_mode_is_told_beside_the_unused_products(self):
        found = {"unused": {"instructions": 1000, "allocations": 5.0},
                 "metrics": {"instructions": 1500, "allocations": 6.5}}
        lines = [line.split() for line in counting.products(found)]
        self.assertEqual(lines[0], ["unused", "instructions", "1,000", "+0"])
        self.assertEqual(lines[2], ["metrics", "instructions", "1,500", "+500"])
        self.assertEqual(lines[3], ["metrics", "allocations", "6.5", "+1.5"])


class ServersOfATest:
    item = authority = "file"

    def url(self, cell):
        return "http://127.0.0.1:1" + cell.path


class CellTests(unittest.TestCase):
    def test_each_layer_is_in_each_cell_that_is_to_the_bare_loop(self):
        for cell in CELLS:
            if cell.base == "bare":
                wanted = {name for name in LAYERS if not (cell.typed and name == "async")}
                self.assertLessEqual(wanted, set(cell.programs), cell.name)

    def test_allocations_are_a_difference_with_all_connections_in_both(self):
        for cell in CELLS:
            (few, at_first), (many, at_last) = cell.counts
            self.assertGreater(many, few, cell.name)
            self.assertTrue(at_first <= few and at_last <= many, cell.name)
            if cell.slow:
                self.assertEqual((at_first, at_last), (few, many))
            else:
                self.assertEqual(at_first, at_last)

    def test_the_core_is_asked_for_what_the_bare_loop_is(self):
        for cell in CELLS:
            if cell.base == "bare":
                bare, core = (command_of(name, cell, ServersOfATest(), 7) for name in ("bare", "core"))
                self.assertEqual(bare[1:], core[1:], cell.name)
                self.assertEqual("--rich" in core, cell.rich)
                self.assertEqual("--rate" in core, cell.paced)
                self.assertEqual("--body-file" in core, cell.typed)


if __name__ == "__main__":
    unittest.main()
