"""What was expected, and how much of it held."""

import sys


class Outcome:
    def __init__(self):
        self.passed = self.failed = 0

    def expect(self, holds, why):
        if holds:
            self.passed += 1
        else:
            self.failed += 1
            print(f"check: FAILED: {why}", file=sys.stderr, flush=True)

    def say(self, text):
        print(f"check: {text}", flush=True)
