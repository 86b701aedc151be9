"""Medians, spreads, ratios to the cell's base, and the targets beside them."""

from statistics import median

from .cells import CELLS, LAYERS, PROGRAMS, TARGETS


def summary(runs):
    """Of one program in one cell: runs are the JSON objects it printed."""
    cpu = [run["cpu_microseconds_per_request"] for run in runs]
    rate = [run["requests_per_second"] for run in runs]
    result = {
        "runs": len(runs),
        "errors": sum(run["errors"] for run in runs),
        "cpu_microseconds_per_request": median(cpu),
        "cpu_spread": (max(cpu) - min(cpu)) / median(cpu),
        "requests_per_second": median(rate),
        "rate_spread": (max(rate) - min(rate)) / median(rate),
        "latency_p50_microseconds": median(run["latency_microseconds"]["p50"] for run in runs),
        "latency_p99_microseconds": median(run["latency_microseconds"]["p99"] for run in runs),
        "peak_resident_bytes": median(run["peak_resident_bytes"] for run in runs),
    }
    extra = [run["resident_bytes_per_request"] for run in runs if "resident_bytes_per_request" in run]
    if extra:
        result["resident_bytes_per_request"] = median(extra)
    return result


def ratios(results):
    """Ratios are medians of each round's ratio: a slow moment of the machine
    hits the programs of a round alike."""
    out = {}
    bases = {cell.name: cell.base for cell in CELLS}
    for cell, programs in results.items():
        bare = programs.get(bases[cell])
        for program, runs in programs.items():
            entry = summary(runs)
            if bare and len(bare) == len(runs):
                pairs = list(zip(runs, bare))
                entry["cpu_ratio"] = median(
                    a["cpu_microseconds_per_request"] / b["cpu_microseconds_per_request"] for a, b in pairs
                )
                entry["rate_ratio"] = median(a["requests_per_second"] / b["requests_per_second"] for a, b in pairs)
            out.setdefault(cell, {})[program] = entry
    return out


def reached(target, table):
    entry = table.get(target.cell, {}).get(target.program)
    if entry is None:
        return None
    if target.measure == "memory":
        return entry.get("resident_bytes_per_request")
    if target.measure == "growth":
        small = table.get("small_c64", {}).get(target.program)
        return small and entry["cpu_microseconds_per_request"] / small["cpu_microseconds_per_request"]
    return entry.get(target.measure)


def targets(table):
    out = []
    for target in TARGETS:
        value = reached(target, table)
        out.append(
            {
                "target": target.text,
                "limit": target.limit,
                "reached": value,
                "met": None if value is None else target.met(value),
            }
        )
    return out


def format_value(value):
    if value is None:
        return "not measured"
    return f"{value:,.0f}" if value > 1000 else f"{value:.2f}"


def markdown(machine, rounds, table):
    lines = [f"{machine}; {rounds} rounds, medians, spread = (max - min) / median", ""]
    for cell in CELLS:
        programs = table.get(cell.name)
        if not programs:
            continue
        memory = any("resident_bytes_per_request" in entry for entry in programs.values())
        lines += [f"### {cell.title}", ""]
        lines.append(
            f"| program | CPU us/request | spread | to {cell.base} | requests/s | spread | to {cell.base} "
            "| p50 us | p99 us |"
            + (" bytes/request |" if memory else "")
        )
        lines.append("|---|---|---|---|---|---|---|---|---|" + ("---|" if memory else ""))
        for program in PROGRAMS:
            entry = programs.get(program)
            if entry is None:
                continue
            line = (
                f"| {program} | {entry['cpu_microseconds_per_request']:.2f} | {entry['cpu_spread']:.0%} "
                f"| {format_value(entry.get('cpu_ratio'))}x | {entry['requests_per_second']:,.0f} "
                f"| {entry['rate_spread']:.0%} | {format_value(entry.get('rate_ratio'))}x "
                f"| {entry['latency_p50_microseconds']:,.0f} | {entry['latency_p99_microseconds']:,.0f} |"
            )
            if memory:
                line += f" {entry.get('resident_bytes_per_request', 0):,.0f} |"
            if entry["errors"]:
                line += f" {entry['errors']} errors"
            lines.append(line)
        lines.append("")
    lines += ["### Targets", "", "| target | reached | |", "|---|---|---|"]
    words = {True: "met", False: "MISSED", None: ""}
    for entry in targets(table):
        lines.append(f"| {entry['target']} | {format_value(entry['reached'])} | {words[entry['met']]} |")
    return "\n".join(lines) + "\n"


def compact(machine, rounds, table):
    """What README.md shows: a line a program, then the targets."""
    lines = [
        "| program | CPU us/request, 64 in flight | to bare | 1 MB: requests/s to bare | CPU us/request, 1,000 in flight "
        "| bytes per waiting request |",
        "|---|---|---|---|---|---|",
    ]
    for program in LAYERS:
        cells = {name: programs.get(program, {}) for name, programs in table.items()}
        small, large = cells.get("small_c64", {}), cells.get("1mb_c16", {})
        many, slow = cells.get("small_c1000", {}), cells.get("slow_c10000", {})
        lines.append(
            f"| {program} | {format_value(small.get('cpu_microseconds_per_request'))} "
            f"| {format_value(small.get('cpu_ratio'))}x | {format_value(large.get('rate_ratio'))}x "
            f"| {format_value(many.get('cpu_microseconds_per_request'))} "
            f"| {format_value(slow.get('resident_bytes_per_request'))} |"
        )
    lines += ["", f"{machine}; medians of {rounds} rounds. The targets, and what was reached:", ""]
    full = markdown(machine, rounds, table)
    return "\n".join(lines) + "\n\n" + full.split("### Targets\n\n")[1]


def write_readme(path, text):
    """Replaces what is between the two marks."""
    with open(path) as file:
        before, rest = file.read().split("<!-- scripts/bench --readme -->\n", 1)
        after = rest.split("<!-- end -->", 1)[1]
    with open(path, "w") as file:
        file.write(f"{before}<!-- scripts/bench --readme -->\n{text}<!-- end -->{after}")
