import re
import unittest

from samples import run, runs
from harness.cells import CELLS
from harness.summary import MEASURE
from harness.targets import TARGETS, Target, values, verdicts

RESULTS = {
    "near": {"bare": runs(10, 20, 10), "ours": runs(12, 22, 15), "decoder": runs(2, 2, 2)},
    "far": {"bare": runs(40, 40, 40), "ours": runs(24, 22, 45)},
}


def reached(measure, limit=1.25, program="ours", cell="far", at_least=False):
    found, = verdicts(RESULTS, (Target("it", cell, program, measure, limit, at_least),))
    return found


class Measures(unittest.TestCase):
    def test_alone(self):
        self.assertEqual(reached("cpu")["reached"], 24)

    def test_by_another_program(self):
        found = reached("cpu/bare", cell="near")
        self.assertEqual((found["reached"], found["low"], found["high"]), (1.2, 1.1, 1.5))

    def test_by_the_sum_of_two(self):
        found = reached("cpu/bare+decoder", cell="near")
        self.assertEqual((found["low"], found["high"]), (1.0, 1.25))

    def test_by_another_cell(self):
        self.assertEqual(reached("cpu/@near")["reached"], 2)
        self.assertEqual(reached("cpu/bare@near")["reached"], 2.4)


class Verdicts(unittest.TestCase):
    def test_at_the_limit_is_met_and_past_it_is_missed(self):
        for at_least in (False, True):
            self.assertIs(reached("cpu/@near", 2, at_least=at_least)["met"], True)
        self.assertIs(reached("cpu/@near", 1.99)["met"], False)
        self.assertIs(reached("cpu/@near", 2.01, at_least=True)["met"], False)

    def test_what_was_not_run_is_neither(self):
        for measure, program, cell in (("cpu/bare", "theirs", "far"), ("cpu/theirs", "ours", "far"),
                                       ("cpu/bare+theirs", "ours", "far"), ("cpu", "ours", "no"),
                                       ("cpu/@no", "ours", "far"), ("waiting", "ours", "far")):
            found = reached(measure, program=program, cell=cell)
            self.assertIsNone(found["met"], measure)
            self.assertIsNone(found["reached"], measure)

    def test_no_cpu_of_a_load_generator(self):
        results = {"a": {"wrk": [run(None)], "ours": runs(10)}}
        self.assertEqual(values(Target("it", "a", "ours", "cpu/wrk", 1), results), [])
        self.assertEqual(values(Target("it", "a", "ours", "rate/wrk", 1), results), [1])


    def test_the_better_of_two_in_each_round(self):
        results = {"a": {"one": runs(10, 40, 20, rate=100), "two": runs(20, 10, 30, rate=200), "ours": runs(5, 5, 5, rate=400)}}
        self.assertEqual(values(Target("it", "a", "one|two", "cpu/ours", 1), results), [2, 2, 4])
        self.assertEqual(values(Target("it", "a", "ours", "rate/one|two", 1), results), [2, 2, 2])
        self.assertEqual(values(Target("it", "a", "ours", "cpu/one|two", 1), results), [0.5, 0.5, 0.25])
        self.assertEqual(values(Target("it", "a", "ours", "cpu/three|four", 1), results), [])

    def test_whether_each_round_agrees(self):
        self.assertIs(reached("cpu/bare", 1.2, cell="near")["always"], False)
        self.assertIs(reached("cpu/bare", 1.5, cell="near")["always"], True)
        self.assertIs(reached("cpu/bare", 1.0, cell="near")["always"], True)


class Ours(unittest.TestCase):
    def test_each_has_a_measure_that_is_known(self):
        for target in TARGETS:
            self.assertIn(target.measure.partition("/")[0], MEASURE, target.text)
            self.assertGreater(target.limit, 0)
        self.assertEqual(len({(target.text, target.cell) for target in TARGETS}), len(TARGETS))

    def test_each_can_be_decided(self):
        """With every program in every cell that a target names."""
        names = {target.cell for target in TARGETS} | {cell.name for cell in CELLS}
        programs = {name for target in TARGETS for name in target.program.split("|")} | {
            name for target in TARGETS
            for name in re.split("[|+]", target.measure.partition("/")[2].partition("@")[0]) if name}
        results = {name: {program: [run(resident_bytes_per_request=1)] for program in programs}
                   for name in names}
        self.assertNotIn(None, [found["met"] for found in verdicts(results)])

    def test_each_is_about_programs_of_its_cell(self):
        """A target on a program that its cell never runs would not be measured in any run."""
        cells = {cell.name: cell for cell in CELLS}
        for target in TARGETS:
            divisor, _, other = target.measure.partition("/")[2].partition("@")
            self.assertLessEqual(set(target.program.split("|")), set(cells[target.cell].programs), target.text)
            named = {name for name in re.split("[|+]", divisor) if name}
            self.assertLessEqual(named, set(cells[other or target.cell].programs), target.text)


if __name__ == "__main__":
    unittest.main()
