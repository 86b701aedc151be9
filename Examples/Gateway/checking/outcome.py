"""Expectations with their counts, and a wait for a condition."""

import sys
import time


def until(holds, seconds=60):
    """Waits until `holds()` is true. Returns whether it was in time."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


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
