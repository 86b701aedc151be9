"""The script that runs parts of a load test by ssh, and what is compared of them."""

import collections
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
from loadtools import machines  # noqa: E402

EXAMPLES = os.path.dirname(machines.SCRIPT)


class ScriptTests(unittest.TestCase):
    def script(self, *words):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(["sh", machines.SCRIPT, *words], cwd=folder, text=True, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            return done.returncode, done.stdout, os.listdir(folder)

    def test_the_syntax(self):
        for name in ("load-ssh.sh", "load-slurm.sh"):
            subprocess.run(["sh", "-n", os.path.join(EXAMPLES, name)], check=True)

    def test_arguments_that_are_missing(self):
        for words in ((), ("127.0.0.2",)):
            code, text, files = self.script(*words)
            self.assertNotEqual(code, 0)
            self.assertIn("load-ssh.sh HOST,HOST,... PLAN [FILE ...]", text)
            self.assertEqual(files, [])

    def test_paths_that_could_be_those_of_another_file_on_a_host(self):
        for word in ("/plan.json", "../plan.json", "plans/../../plan.json", ".."):
            code, text, files = self.script("127.0.0.2", "plan.json", word)
            self.assertEqual((code, files), (64, []), text)
            self.assertIn(f"'{word}' is not below the current folder", text)


class RowTests(unittest.TestCase):
    def test_each_row_once(self):
        rows = collections.Counter(["ada", "grace"])
        self.assertEqual(machines.row_errors(rows, collections.Counter(rows)), [])

    def test_rows_that_are_missing_or_taken_twice(self):
        rows = collections.Counter(["ada", "grace"])
        self.assertEqual(machines.row_errors(rows, collections.Counter(["ada"])), ["rows of one side alone: ['grace']"])
        self.assertEqual(machines.row_errors(rows, collections.Counter(["ada", "grace", "ada"])),
                         ["the shares took ada 2 times"])


if __name__ == "__main__":
    unittest.main()
