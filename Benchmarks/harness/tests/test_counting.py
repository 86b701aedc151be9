import unittest

import samples  # noqa: F401 (sets the path)
from harness import counting

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

TOOLS = {"libcurl": "7.88.1"}
FIGURES = {"instructions": 1000, "allocations": 30.0, "poll": 2.0, "epoll_ctl": 0.0, "sigaction": 0.0, "wake": 0.01,
           "send": 1.0, "recv": 1.0}


class CountingTests(unittest.TestCase):
    def shut(self, tools=TOOLS, same=True, **changed):
        found = {**FIGURES, **changed}
        return [verdict.line.split()[2] for verdict in counting.verdicts("async", found, FIGURES, same, tools)
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

    def test_one_allocation_more_is_too_many(self):
        self.assertEqual(self.shut(allocations=31.0), ["allocations"])

    def test_what_goes_by_uncounted_is_noticed(self):
        self.assertEqual(self.shut(send=0.0, recv=0.0), ["send", "recv"])

    def test_the_lowest_of_each_count(self):
        self.assertEqual(counting.lowest([{"poll": 2.1, "wake": 0.1}, {"poll": 2.0, "wake": 0.9}]),
                         {"poll": 2.0, "wake": 0.1})

    def test_system_calls(self):
        self.assertEqual(self.shut(poll=2.2, epoll_ctl=0.06, sigaction=2.0, wake=0.3),
                         ["poll", "epoll_ctl", "sigaction", "wake"])
        self.assertEqual(self.shut(sigaction=2.0, tools={"libcurl": "8.14.1"}), [])


if __name__ == "__main__":
    unittest.main()
