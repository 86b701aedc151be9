"""How programs are found and called."""

import unittest
from unittest import mock

import samples  # noqa: F401 (sets the path)
from harness import commands
from harness.cells import BEYOND_SWIFT, BUFFERS, CELLS


class ServersOfATest:
    item = authority = "file"

    def url(self, cell):
        return "http://127.0.0.1:1" + cell.path


def cell_of(name):
    return next(cell for cell in CELLS if cell.name == name)


class BeyondSwiftTests(unittest.TestCase):
    def test_where_the_toolchain_is_missing_nothing_is_built_or_run(self):
        with mock.patch.object(commands, "CRATES", "/nowhere"), \
                mock.patch.object(commands.shutil, "which", return_value=None), \
                mock.patch.dict(commands.BEYOND_BUILD, dict.fromkeys(BEYOND_SWIFT, "/nowhere")), \
                mock.patch.object(commands.subprocess, "run") as run:
            for program in BEYOND_SWIFT:
                commands.build_beyond_swift(program)
                self.assertFalse(commands.installed(program))
            run.assert_not_called()

    def test_they_are_asked_for_what_the_swift_rivals_are(self):
        for cell in CELLS:
            for program in set(BEYOND_SWIFT) & set(cell.programs):
                words = commands.command_of(program, cell, ServersOfATest(), 7)
                swift = commands.command_of("async-http-client", cell, ServersOfATest(), 7)
                del swift[swift.index("--mode"):swift.index("--mode") + 2]
                self.assertEqual(words[1:], swift[1:], cell.name)

    def test_they_need_no_swift(self):
        for program in BEYOND_SWIFT + ("bare", "core", "curl", *BUFFERS):
            self.assertFalse(commands.needs_swift(program), program)
        for program in ("closures", "typed", "async-http-client", "urlsession", "download", "fetch"):
            self.assertTrue(commands.needs_swift(program), program)

    def test_the_bare_loop_with_another_buffer(self):
        plain = commands.command_of("bare", cell_of("64kb_c64"), ServersOfATest(), None)
        for program, size in BUFFERS.items():
            words = commands.command_of(program, cell_of("64kb_c64"), ServersOfATest(), None)
            self.assertEqual(words, plain + ["--buffer-size", str(size)])


if __name__ == "__main__":
    unittest.main()
