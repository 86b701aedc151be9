"""curl and the tool as processes."""

import os
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import samples  # noqa: F401 (sets the path)
from harness import tools
from harness.cells import TOOLS


class ToolTests(unittest.TestCase):
    def test_all_write_the_same_body_to_the_same_place(self):
        for program in TOOLS:
            words = tools.command(program, "http://127.0.0.1:1/f", "out")
            self.assertEqual((words[-1], words[words.index("-o") + 1]), ("http://127.0.0.1:1/f", "out"))

    def test_a_file_is_made_in_memory_where_there_is_room(self):
        self.assertEqual(tools.place("disk", 1 << 60), "disk")
        with mock.patch.object(tools, "MEMORY", "/nowhere"):
            self.assertEqual(tools.place("disk", 1), "disk")
        with mock.patch.object(tools, "MEMORY", "/"):
            self.assertEqual(tools.place("disk", 1), "/")

    def test_the_peak_is_read_while_the_process_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            read = os.path.join(folder, "read")

            def peak(pid):
                open(read, "w").close()
                return pid and 7

            script = (f"import os, time\nend = time.monotonic() + 60\n"
                      f"while not os.path.exists({read!r}) and time.monotonic() < end: time.sleep(0.01)")
            with mock.patch.object(tools, "peak_resident", peak):
                run = tools._run([sys.executable, "-c", script], 60)
        self.assertEqual((run["peak_resident_bytes"], run["status"]), (7, {"200": 1}))
        self.assertGreater(run["cpu_microseconds_per_request"], 0)

    def test_the_peak_is_that_of_the_process(self):
        script = "import sys; kept = bytearray(64 << 20); print(flush=True); sys.stdin.read()"
        child = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        with child:
            child.stdout.readline()
            self.assertGreater(tools.peak_resident(child.pid), 64 << 20)
            self.assertGreater(tools.peak_resident(child.pid), tools.peak_resident(os.getpid()))
        self.assertEqual(tools.peak_resident(child.pid), 0)

    def test_one_that_fails_or_does_not_end_ends_the_run(self):
        with self.assertRaisesRegex(SystemExit, "ended with 3"):
            tools._run([sys.executable, "-c", "exit(3)"], 60)
        with self.assertRaisesRegex(SystemExit, "took more than"):
            tools._run([sys.executable, "-c", "import time; time.sleep(60)"], 0.1)


if __name__ == "__main__":
    unittest.main()
