"""Runs as programs print them, made by hand; and the way to the harness."""

import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))


def run(cpu=10.0, rate=1000.0, **more) -> dict:
    found = {
        "requests": 1000, "errors": 0, "requests_per_second": rate,
        "cpu_microseconds_per_request": cpu, "peak_resident_bytes": 20_000_000,
        "latency_microseconds": {"min": 50, "p50": 100, "p90": 200, "p99": 400, "p999": 900,
                                 "max": 1000},
    }
    found.update(more)
    return {key: value for key, value in found.items() if value is not None}


def runs(*cpus, **more) -> list:
    return [run(cpu, **more) for cpu in cpus]


def report_of(results: dict, **more) -> dict:
    from harness.report import complete
    saved = {"date": "2026-01-02", "machine": "a machine", "command": "scripts/bench --rounds 3",
             "rounds": 3, "runs": results}
    return complete({**saved, **more})
