"""The behaviour of the scripted server in each case, and the latencies of users who arrive on schedule.

Times are seconds from the first request. Each block of 100 requests has the same delays and errors, in an order that a
seed determines, so that percentiles are known and do not depend on chance."""

import dataclasses
import random

SEED = 7
BLOCK = 100
# The cost of one request for the server, in seconds. It answers one request after another, so 500 of them take a while
# after a stall.
WORK = 0.00007


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    title: str
    # (requests of a block, delay in seconds); together BLOCK.
    delays: tuple = ((BLOCK, 0.002),)
    # Requests of a block that are answered with 500.
    errors: int = 0
    # When the server stalls, and for how long. None: never.
    freeze_at: float | None = None
    freeze_for: float = 0
    # The time from which no request is answered any more. None: every request is answered.
    silent_from: float | None = None

    @property
    def ends_silent(self):
        return self.silent_from is not None


def cases(seconds):
    """The cases of a run that takes `seconds`."""
    return [
        Case("delays", "88 % take 5 ms, 10 % 50 ms, 2 % 500 ms", delays=((88, 0.005), (10, 0.05), (2, 0.5))),
        Case("stall", "2 ms, and everything stands still for 1 s in the middle",
             freeze_at=seconds / 2 - 0.5, freeze_for=1),
        Case("silence", "2 ms, and from 1 s before the end on no answer at all", silent_from=seconds - 1),
        Case("errors", "2 ms, and 1 % of the answers are 500", errors=1),
    ]


class Script:
    """The delay and the status of each request, in the order of arrival, without an end."""

    def __init__(self, case, seed=SEED):
        self.case, self.random = case, random.Random(seed)
        self.block = []

    def next(self):
        """The delay in seconds and the status of the next request."""
        if not self.block:
            delays = [delay for count, delay in self.case.delays for _ in range(count)]
            statuses = [500] * self.case.errors + [200] * (BLOCK - self.case.errors)
            self.random.shuffle(delays)
            self.random.shuffle(statuses)
            self.block = list(zip(delays, statuses))
        return self.block.pop()


def thaw(case, moment):
    """When an action that is due at that moment happens: at once, or when the stall has ended."""
    if case.freeze_at is not None and case.freeze_at <= moment < case.freeze_at + case.freeze_for:
        return case.freeze_at + case.freeze_for
    return moment


@dataclasses.dataclass
class Truth:
    """`waits`: the latencies of all users, sorted. Users without an answer waited until the end of the run."""

    waits: list
    errors: int
    unanswered: int

    @property
    def requests(self):
        return len(self.waits)

    def at(self, percentile):
        return at(self.waits, percentile)


def scheduled(case, rate, seconds):
    """The truth for users who arrive at equal intervals and wait only for the server."""
    script, waits, errors, unanswered, free = Script(case), [], 0, 0, 0
    for number in range(round(rate * seconds)):
        arrival = number / rate
        delay, status = script.next()
        free = max(free, thaw(case, arrival)) + WORK
        end = thaw(case, free + delay)
        if case.ends_silent and end >= case.silent_from:
            unanswered += 1
            waits.append(seconds - arrival)
            continue
        errors += status != 200
        waits.append(end - arrival)
    return Truth(sorted(waits), errors, unanswered)


def at(values, percentile):
    """The percentile: the smallest of the sorted values that `percentile` percent of them do not exceed. None if there are
    no values."""
    if not values:
        return None
    rank = -(-len(values) * percentile // 100)
    return values[max(0, min(len(values), int(rank)) - 1)]
