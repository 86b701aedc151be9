import os
import re
import tempfile
import unittest
from html.parser import HTMLParser
from xml.etree import ElementTree

from samples import report_of, run, runs
from harness import render
from harness.cells import CELLS
from harness.charts import log_bounds, log_ticks, nines
from harness.formats import NOTHING, duration, of_measure, ratio
from harness.html import page
from harness.markdown import BRIEF_COLUMNS, BRIEF_ROWS, brief, compact, full
from harness.report import MARKS, command_text, load, write_json, write_readme

EVIL = "<script>alert('&\"|\\\n</script>"
VOID = {"meta", "input", "br"}
FULL = {
    "small_c64": {"bare": runs(10, 11), "closures": runs(12, 13), "async": runs(13, 14),
                  "urlsession": runs(340, 350), "wrk": [run(None, peak_resident_bytes=None)]},
    "slow_c10000": {"bare": runs(10, 11, resident_bytes_per_request=14_600.0),
                    "closures": runs(20, 21, resident_bytes_per_request=17_500.0)},
    "1kb_cached": {"closures": runs(20, 20), "memory": runs(5, 5)},
}
HOLES = {
    "small_c64": {"async": runs(13)},
    "h2_c64": {"h2load": [{"requests": 3}], "nobody": [{}]},
    "another": {"bare": runs(0, 0, rate=0), "core": runs(0, latency_microseconds={})},
}


class Balance(HTMLParser):
    """Opens and closes in order; collects ids, links and what could fetch."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.tags, self.wrong = [], [], [], set(), []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        for name, value in attributes:
            if name == "id":
                self.ids.append(value)
            if name in ("href", "src", "for", "aria-labelledby"):
                self.links.append(value)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


class Pages(unittest.TestCase):
    def check(self, text):
        found = Balance(text)
        self.assertEqual((found.open, found.wrong), ([], []))
        self.assertEqual(len(found.ids), len(set(found.ids)))
        for link in found.links:
            self.assertIn(link.removeprefix("#"), found.ids)
        self.assertFalse(found.tags & {"script", "link", "img", "iframe", "object"})
        for wrong in ("://", "url(", "@import", "NaN", "None", ">inf"):
            self.assertEqual(text.count(wrong), 0, wrong)
        for svg in re.findall(r'<svg class="(?:curves|swatch).*?</svg>', text):
            ElementTree.fromstring(svg)

    def test_whole_and_by_itself(self):
        self.check(page(report_of(FULL)))

    def test_with_holes(self):
        self.check(page(report_of(HOLES)))
        self.check(page(report_of({})))

    def test_figures_are_there(self):
        text = page(report_of(FULL))
        for figure in ("10.50", "1.19×", "17,500", "32.9×", "scripts/bench --rounds 3",
                       "Truncated bars continue"):
            self.assertIn(figure, text)

    def test_names_are_text(self):
        results = {EVIL: {"bare": runs(10), EVIL: runs(20)}}
        matrix = {EVIL: {"title": EVIL, "base": "bare"}}
        report = report_of(results, matrix=matrix, machine=EVIL, command=EVIL, date=EVIL)
        text = page(report)
        self.check(text)
        self.assertIn("&lt;script&gt;alert(", text)
        for table in (full(report), compact(report)):
            rows = [line for line in table.splitlines() if line.startswith("|")]
            self.assertFalse([row for row in rows if "<script" in row])
            self.assertTrue([row for row in rows if "&lt;script>alert('&\"\\|\\\\" in row])

    def test_the_same_input_gives_the_same_output(self):
        turned = {cell: dict(reversed(programs.items())) for cell, programs in FULL.items()}
        for make in (page, full, compact, brief):
            self.assertEqual(make(report_of(FULL)), make(report_of(turned)))


class Tables(unittest.TestCase):
    def rows(self, text, begin):
        found, = [line for line in text.splitlines() if line.startswith(begin)]
        return [cell.strip() for cell in found.strip("|").split(" |")]

    def test_every_row_has_as_many_columns_as_its_head(self):
        for results in (FULL, HOLES):
            for text in (full(report_of(results)), compact(report_of(results)), brief(report_of(results))):
                width = 0
                for line in text.splitlines():
                    count = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else 0
                    self.assertIn(width, (0, count) if count else (width,))
                    width = count

    def test_the_compact_one(self):
        text = compact(report_of(FULL))
        self.assertEqual(self.rows(text, "| 12 B, 64 in flight | 10"),
                         ["12 B, 64 in flight", "10.50", "12.50 (1.19x)", "URLSession: closures 0.04x, async 0.04x"])
        self.assertIn("bytes/request in flight | 14,600 | 17,500 (1.20x) |", text)
        self.assertIn("to closures: memory cache: 5.00 (0.25x).", text)
        self.assertIn(text, full(report_of(FULL)))

    def test_the_brief_one(self):
        text = brief(report_of(FULL))
        self.assertEqual(self.rows(text, "| 12 B, 64 in flight | 10"),
                         ["12 B, 64 in flight", "10.50", "", "12.50 (1.19x)", "13.50 (1.29x)", "", "", "345.0 (32.9x)",
                          "", "", "URLSession: closures 0.04x, async 0.04x"])
        self.assertIn("bytes/request in flight | 14,600 |  | 17,500 (1.20x) |  |  |  |  |  |  |  |", text)
        self.assertNotIn("cache", text)
        self.assertIn("2026-01-02; a machine; medians of 3 rounds: `scripts/bench --rounds 3`.",
                      text)
        # The figures are those of the table over all cells.
        cells = self.rows(compact(report_of(FULL)), "| 12 B, 64 in flight | 10")
        self.assertLessEqual(set(cells), set(self.rows(text, "| 12 B, 64 in flight | 10")))
        known = {cell.name: cell for cell in CELLS}
        for name, _ in BRIEF_ROWS:
            self.assertLessEqual(set(BRIEF_COLUMNS[:6]), set(known[name].programs))
        self.assertLessEqual(len(BRIEF_ROWS), 6)

    def test_what_is_typed_stands_beside_what_is_typed(self):
        results = {"post_typed": {"bare": runs(10), "closures": runs(15), "typed": runs(80), "decoder": runs(50),
                                  "urlsession": runs(300)},
                   "small_c64": {"bare": runs(10), "closures": runs(12), "urlsession": runs(200)},
                   "tls_c64": {"bare": runs(10), "closures": runs(12), "urlsession": runs(200)}}
        text = compact(report_of(results))
        row = next(row for row in page(report_of(results)).split("<tr>") if 'href="#cell-post' in row and "300.0" in row)
        self.assertIn("80.00", row)
        self.assertNotIn("15.00", row)
        self.assertEqual(self.rows(text, "| POST"),
                         ["POST of 1 KB JSON, encoded and decoded", "", "80.00 (8.00x)", "300.0 (30.0x)",
                          "URLSession: typed 0.27x"])
        self.assertIn("bare loop, the same bytes, nothing encoded or decoded: 10.00; decoder alone: 50.00 (5.00x); "
                      "closures, the same bytes, nothing encoded or decoded: 15.00 (1.50x).", text)

    def test_what_is_typed_is_there_once_where_it_has_a_column_of_its_own(self):
        results = {"post_typed": {"bare": runs(10), "closures": runs(15), "typed": runs(80)}}
        self.assertEqual(self.rows(compact(report_of(results)), "| POST")[1:],
                         ["10.00", "15.00 (1.50x)", "80.00 (8.00x)", ""])

    def test_the_best_rival_of_each_round_and_what_ours_are_to_it(self):
        results = {"1mb_c16": {"bare": runs(10, 10, 10), "closures": runs(8, 8, 8, rate=300),
                               "reqwest": runs(10, 16, 16, rate=100), "go": runs(20, 8, 20, rate=200),
                               "wrk": runs(1, 1, 1, rate=900)}}
        report = report_of(results)
        self.assertEqual(self.rows(compact(report), "| 1 MB, 16 in flight | 10")[-1], "reqwest: closures 0.80x")
        self.assertEqual(self.rows(compact(report), "| 1 MB, 16 in flight: requests/s")[-1], "Go: closures 1.50x")
        line = self.rows(full(report), "| closures | 8.00")
        self.assertEqual((line[2], line[4]), ("0.80x", "1.50x"))
        # No rival is compared with itself, and no load generator with a client.
        for begin in ("| reqwest (Rust) | 16", "| wrk | 1.00"):
            self.assertEqual(self.rows(full(report), begin)[2], NOTHING)
        self.assertIn("<td>reqwest: closures 0.80×</td>", page(report))
        self.assertIn("<td>1.50×</td>", page(report))

    def test_a_rival_that_did_not_keep_its_rate_has_no_latency(self):
        late, kept = dict(run(rate=900), rate=1000), dict(run(rate=1000.0), rate=1000)
        late["latency_microseconds"] = {"p99": 1}
        report = report_of({"open_loop": {"bare": [kept], "closures": [kept], "go": [late], "reqwest": [kept]}})
        self.assertIn("| reqwest: closures 1.00x |", compact(report))

    def test_what_is_in_few_cells_stands_below_the_table(self):
        results = {name: {"bare": runs(10), "bare-128k": runs(5)} for name in ("64kb_c64", "1mb_c16")}
        results["download_1gb"] = {"curl": runs(400_000, rate=2.5), "download": runs(500_000, rate=2)}
        text = compact(report_of(results))
        self.assertIn("64 KB, 64 in flight: bare loop, receive buffer of 128 KB: 5.00 (0.50x).", text)
        self.assertIn("1 GB into a file; to curl: curl: 400,000; errand download: 500,000 (1.25x).", text)
        self.assertIn("| 2.50 |", full(report_of(results)))

    def test_what_was_counted_once_has_no_spread(self):
        counted = [dict(run(10), allocations_per_request=5.0), run(12)]
        self.assertIn("| 5.0 |", full(report_of({"small_c64": {"bare": counted}})))

    def test_a_rate_that_was_not_kept(self):
        late = [dict(run(rate=rate), rate=1000) for rate in (900, 990, 900)]
        kept = [dict(run(rate=1000.0), rate=1000) for _ in range(3)]
        report = report_of({"open_loop": {"bare": kept, "core": kept, "closures": kept, "async": late}})
        text = compact(report)
        self.assertIn("rate (1,000/s): p99 us | 400 | 400 (1.00x) | 400 (1.00x) | overloaded |", text)
        self.assertIn("async: p99 <= 1.3x the bare loop | overloaded | **missed**, not in every round |", full(report))
        self.assertIn("closures: p99 <= 1.5x the C core | 1.00x | met |", full(report))
        self.assertNotIn("overloaded ±", full(report))
        # Of the two tables of the page one has a figure for each program, the other the verdicts.
        self.assertEqual(page(report).count("<td>overloaded"), 4 + 1)
        for made in (full(report), page(report)):
            self.assertIn("behind its rate in 2 of 3 rounds", made)
            self.assertNotIn("behind its rate in 1 of", made)

    def test_errors_are_shown(self):
        report = report_of({"small_c64": {"bare": [run(errors=4)]}})
        self.assertIn("4 errors", full(report))
        self.assertIn("4 errors", page(report))


class Axes(unittest.TestCase):
    def test_nines(self):
        self.assertEqual([round(nines(at), 9) for at in (0, 90, 99, 99.9)], [0, 1, 2, 3])

    def test_bounds_and_ticks(self):
        self.assertEqual(log_bounds(11, 199), (10, 200))
        self.assertEqual(log_bounds(100, 100), (100, 200))
        self.assertEqual(log_ticks(10, 200), [10, 20, 50, 100, 200])
        self.assertEqual(log_ticks(10, 100_000), [10, 100, 1000, 10_000, 100_000])
        self.assertEqual(log_bounds(0.03, 0.2), (0.02, 0.2))


class Numbers(unittest.TestCase):
    def test_durations(self):
        told = {0.5: "0.500 us", 7: "7.00 us", 99.96: "100 us", 999.7: "1.00 ms", 2_700: "2.70 ms",
                1_250_000: "1.25 s", 2_000_000_000: "2,000 s"}
        self.assertEqual({value: duration(value, "us") for value in told}, told)
        self.assertEqual(duration(20_000, "us", exact=False), "20 ms")

    def test_by_measure(self):
        self.assertEqual([of_measure("cpu", value) for value in (9.876, 123.45, 1234.5, None)],
                         ["9.88", "123.5", "1,234", NOTHING])
        self.assertEqual(of_measure("memory", 20_400_000), "20.4")
        self.assertEqual([ratio(value) for value in (0.954, 9.99, 21.46)],
                         ["0.95×", "9.99×", "21.5×"])


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = lambda name: os.path.join(folder.name, name)

    def text(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def test_again_from_what_was_saved(self):
        report = report_of(FULL)
        write_json(self.path("a.json"), report)
        self.assertEqual(load(self.path("a.json")), report)
        self.assertEqual(render.main([self.path("a.json"), "--html", self.path("a.html")]), 0)
        self.assertEqual(self.text("a.html"), page(report))

    def test_the_readme_between_its_marks_only(self):
        with open(self.path("README.md"), "w", encoding="utf-8") as file:
            file.write(f"before\n{MARKS[0]}old\n{MARKS[1]}\nafter\n")
        for _ in range(2):
            write_readme(self.path("README.md"), report_of(FULL))
        wanted = f"before\n{MARKS[0]}{brief(report_of(FULL))}{MARKS[1]}\nafter\n"
        self.assertEqual(self.text("README.md"), wanted)

    def test_the_targets_between_the_marks_of_another_file(self):
        report = report_of(FULL)
        write_json(self.path("a.json"), report)
        with open(self.path("README.md"), "w", encoding="utf-8") as file:
            file.write(f"{MARKS[0]}old\n{MARKS[1]}\n")
        self.assertEqual(render.main([self.path("a.json"), "--targets", self.path("README.md")]), 0)
        text = self.text("README.md")
        self.assertIn("| closures: CPU <= 1.10x the bare loop | 1.19x", text)
        self.assertNotIn("old", text)
        self.assertNotIn("<= 1.10x", brief(report))

    def test_no_marks_leave_the_file_alone(self):
        for text in ("nothing", MARKS[1] + MARKS[0]):
            with open(self.path("README.md"), "w", encoding="utf-8") as file:
                file.write(text)
            self.assertRaises(ValueError, write_readme, self.path("README.md"), report_of(FULL))
            self.assertEqual(self.text("README.md"), text)

    def test_what_is_no_document_is_an_error(self):
        for text in ("", "[]", "{}", '{"runs": 3}', '{"runs": {"a": 1}}',
                     '{"runs": {"a": {"b": 1}}}', '{"runs": {"a": {"b": [1]}}}',
                     '{"runs": {}, "matrix": 7}'):
            with open(self.path("bad.json"), "w", encoding="utf-8") as file:
                file.write(text)
            with self.assertRaises(ValueError, msg=text):
                load(self.path("bad.json"))

    def test_the_command_is_without_the_files_it_wrote(self):
        self.assertEqual(
            command_text(["--json", "a b", "--rounds", "7", "--html=x", "--readme", "--quick"]),
            "scripts/bench --rounds 7 --quick")


if __name__ == "__main__":
    unittest.main()
