"""The tables of README.md."""

from .rates import median


def rates(program_list, found):
    lines = ["| program | requests/s on one core | CPU us a request | requests/s for each core used | core in use |",
             "|---|--:|--:|--:|--:|"]
    for program in program_list:
        runs = found[program.name]
        microseconds = median(runs, "microseconds")
        lines.append(f"| {program.title} | {median(runs, 'per_second'):,.0f} | {microseconds:.1f} "
                     f"| {1e6 / microseconds:,.0f} | {median(runs, 'cores'):.0%} |")
    return "\n".join(lines)


def time(seconds):
    if seconds is None:
        return "-"
    return f"{seconds:.2f} s" if seconds >= 0.9995 else f"{seconds * 1000:.3g} ms"


def truth(found):
    parts = []
    for case, known, of_case in found:
        errors = known.errors + known.unanswered
        least = "at least " if case.ends_silent else ""
        lines = [f"**{case.title}**", "",
                 "| | requests | p50 | p90 | p99 | max | errors | of the server | verdict |",
                 "|---|--:|--:|--:|--:|--:|--:|--:|---|",
                 f"| *users on schedule* | {known.requests:,} | {time(known.at(50))} | {least}{time(known.at(90))} "
                 f"| {least}{time(known.at(99))} | {least}{time(known.at(100))} | {errors:,} | | |"]
        for program, report, server, wrong in of_case:
            made = server.errors + (server.unanswered if case.ends_silent else 0)
            cells = (["-"] * 6 if report is None else
                     [f"{report.requests:,}"] + [time(getattr(report, name)) for name in ("p50", "p90", "p99", "max")]
                     + [f"{report.errors:,}"])
            lines.append(f"| {program.title} | " + " | ".join(cells) + f" | {made:,} | {'; '.join(wrong) or '**right**'} |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def soak(memory, result, wrong, minutes):
    counts = [request["counts"] for request in result["requests"]]
    due, answered = (sum(count[name] for count in counts) for name in ("due", "answered"))
    return (f"{minutes:g} minutes: {due:,} requests due, {answered:,} answered; resident memory {memory.first / 1e6:.1f} MB "
            f"in the first quarter of the plateau and {memory.last / 1e6:.1f} MB in the last one, at most "
            f"{memory.peak / 1e6:.1f} MB: {'flat' if memory.is_flat else '**not flat**'}. "
            + ("What errand counted agrees with what the shop counted." if not wrong else "; ".join(wrong)))


def verdict(code):
    """The verdict of errand bench compare, by its exit code."""
    return {0: "no difference", 99: "a figure is worse"}.get(code, f"exit code {code}")


def exactness(wrong):
    return "exact" if not wrong else "not exact: " + "; ".join(wrong)


def due(result):
    return sum(request["counts"]["due"] for request in result["requests"])


def first_table(text):
    """The table of all requests. The tables of the single names follow it in the text."""
    return text.split("\n\n")[0].rstrip()


def shares(found):
    return (f"One instance {due(found.one):,} requests, four shares {due(found.merged):,}; the merge is "
            f"{exactness(found.wrong)}. "
            f"`errand bench compare` of one instance with the merge: {verdict(found.code)}; with another run of one "
            f"instance: {verdict(found.again)}.\n\n```\n{first_table(found.text)}\n```")


def machines(found):
    return (f"One instance {due(found.one):,} requests and {len(found.rows):,} rows of data, four hosts "
            f"{due(found.merged):,} requests; the merge is {exactness(found.wrong)}. "
            f"`errand bench compare` of one instance with the merge: {verdict(found.code)}.\n\n"
            f"```\n{first_table(found.text)}\n```")
