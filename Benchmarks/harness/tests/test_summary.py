import unittest

from samples import report_of, run, runs
from harness.summary import curve, entry, ratios, MEASURE

CPU = MEASURE["cpu"]


class Summaries(unittest.TestCase):
    def test_median_and_spread(self):
        found = entry(runs(10, 30, 20))
        self.assertEqual(found["cpu"], {"count": 3, "median": 20, "low": 10, "high": 30, "spread": 1.0})
        self.assertEqual((found["runs"], found["requests"]), (3, 1000))
        self.assertEqual(found["p999"]["median"], 900)

    def test_a_ratio_is_the_median_of_each_rounds_ratio(self):
        # Round 2 is slow for both; a ratio of medians would be 20 / 10.
        found = entry(runs(12, 110, 20), runs(10, 100, 5))["cpu"]
        self.assertAlmostEqual(found["ratio"], 1.2)
        self.assertEqual((found["ratio_low"], found["ratio_high"]), (1.1, 4.0))

    def test_rounds_that_are_told_are_matched(self):
        ours = [run(10, round=1), run(60, round=3)]
        base = [run(10, round=1), run(10, round=2), run(20, round=3)]
        self.assertEqual(ratios(ours, [base], CPU), [1, 3])

    def test_rounds_that_cannot_be_matched_give_the_ratio_of_medians(self):
        self.assertEqual(ratios(runs(30, 50), [runs(10, 20, 30)], CPU), [2])

    def test_no_ratio_without_a_base_or_to_nothing(self):
        self.assertNotIn("ratio", entry(runs(10))["cpu"])
        self.assertEqual(ratios(runs(10), [[]], CPU), [])
        self.assertEqual(ratios(runs(10), [runs(0)], CPU), [])
        self.assertEqual(ratios(runs(10), [runs(5), runs(None)], CPU), [])

    def test_what_a_program_does_not_tell_is_left_out(self):
        found = entry([run(None, peak_resident_bytes=None, latency_microseconds=None)])
        self.assertEqual(set(found), {"runs", "errors", "requests", "rate", "curve"})
        found = entry([run(float("nan")), run(True), run("7"), {}])
        self.assertNotIn("cpu", found)

    def test_allocations_only_where_they_are_counted(self):
        found = entry([run(allocations_per_request=14.5)], runs(10))
        self.assertEqual(found["allocations"]["median"], 14.5)
        self.assertNotIn("ratio", found["allocations"])
        self.assertNotIn("allocations", entry(runs(10)))

    def test_errors_are_added_up(self):
        self.assertEqual(entry([run(errors=2), run(errors=3)])["errors"], 5)


class Curves(unittest.TestCase):
    def test_medians_over_the_rounds(self):
        rounds = [run(latency_spectrum=[[0, 1], [50, value], [90, 9]]) for value in (4, 6, 5)]
        self.assertEqual(curve(rounds), [[0, 1], [50, 5], [90, 9]])

    def test_without_a_spectrum_by_what_there_is(self):
        self.assertEqual(curve([run()]), [[0, 50], [50, 100], [90, 200], [99, 400], [99.9, 900]])

    def test_percentiles_beyond_the_number_of_requests_are_left_out(self):
        spectrum = [[50, 5], [99, 7], [99.9, 8], [100, 8]]
        self.assertEqual(curve([run(requests=100, latency_spectrum=spectrum)]), [[50, 5], [99, 7]])

    def test_bad_points_are_left_out(self):
        spectrum = [[50, None], [90], [99, 0], [120, 4], [75, 3]]
        self.assertEqual(curve([run(latency_spectrum=spectrum)]), [[75, 3]])


class Documents(unittest.TestCase):
    def test_ratios_are_to_the_cells_own_base(self):
        results = {"1kb_cached": {"closures": runs(20, 20), "memory": runs(5, 5)}}
        report = report_of(results)
        self.assertEqual(report["matrix"]["1kb_cached"]["base"], "closures")
        self.assertEqual(report["cells"]["1kb_cached"]["memory"]["cpu"]["ratio"], 0.25)

    def test_cells_of_another_time_are_kept_with_their_titles(self):
        matrix = {"old": {"title": "An old one", "base": "core"}}
        report = report_of({"old": {"core": runs(10), "async": runs(30)}}, matrix=matrix)
        self.assertEqual(report["matrix"]["old"], matrix["old"])
        self.assertEqual(report["cells"]["old"]["async"]["cpu"]["ratio"], 3)

    def test_empty_cells_and_programs_go(self):
        report = report_of({"a": {}, "b": {"bare": []}, "c": {"bare": runs(1), "core": []}})
        self.assertEqual({name: list(cell) for name, cell in report["cells"].items()},
                         {"c": ["bare"]})


if __name__ == "__main__":
    unittest.main()
