"""Makes reports again of what scripts/bench --json wrote, without running anything.

  python3 -m harness.render FILE.json [--html FILE] [--markdown FILE] [--readme FILE]
                            [--targets FILE]

In the folder Benchmarks. Exit code: 0; 1 a file cannot be read or written."""

import argparse
import sys

from .markdown import targets as targets_table
from .report import load, write_html, write_markdown, write_readme


def write_targets(path: str, report: dict):
    write_readme(path, report, targets_table)


def write(report: dict, html=None, markdown=None, readme=None, targets=None):
    for path, writer in ((html, write_html), (markdown, write_markdown), (readme, write_readme),
                         (targets, write_targets)):
        if path:
            writer(path, report)


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m harness.render",
                                     description=__doc__.split("\n\n")[0])
    parser.add_argument("file", metavar="FILE.json")
    parser.add_argument("--html", metavar="FILE", help="one self-contained page")
    parser.add_argument("--markdown", metavar="FILE", help="all tables")
    parser.add_argument("--readme", metavar="FILE", help="the short table between its marks")
    parser.add_argument("--targets", metavar="FILE", help="the targets between its marks")
    options = parser.parse_args(arguments)
    if not (options.html or options.markdown or options.readme or options.targets):
        parser.error("nothing to write: --html, --markdown, --readme or --targets")
    try:
        write(load(options.file), options.html, options.markdown, options.readme, options.targets)
    except (OSError, ValueError) as error:
        print(f"render: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
