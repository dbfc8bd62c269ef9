"""benchmarks/RESULTS.md from what was measured. Pure: measurements in, Markdown out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.bars import BARS
from benchmarks.bars.bar import Check, at, less, ratio, verdict
from benchmarks.growth import FACTOR, ratios

Measured = dict[str, Any]

NOTHING = "–"


def number(value: float | None, digits: int = 3) -> str:
    """As many digits as say something; a dash for what was not measured."""
    if value is None:
        return NOTHING
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.{digits}g}"


def seconds(value: float | None) -> str:
    return (
        NOTHING
        if value is None
        else f"{value:.1f}"
        if value >= 10
        else f"{value:.2f}"
        if value >= 1
        else f"{value:.3f}"
    )


def megabytes(value: float | None) -> str:
    return NOTHING if value is None else f"{value / 1e6:.1f}" if value < 10e6 else f"{value / 1e6:.0f}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; all columns but the first to the right."""
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def times(above: float | None, below: float | None) -> str:
    found = ratio(above, below)
    return NOTHING if found is None else f"{number(found)} ×"


def measured_text(check: Check) -> str:
    value = "not measured" if check.value is None else f"{number(check.value)} {check.unit}".strip()
    return f"{check.label}: {value}"


def bars_table(results: Measured) -> str:
    rows = []
    for bar in BARS:
        checks = list(bar.checks(results))
        found = verdict(checks)
        texts = [measured_text(c) + (" **MISSED**" if c.verdict == "MISSED" else "") for c in checks]
        rows.append(
            [bar.id, bar.what, bar.must, bar.reach, "<br>".join(texts), f"**{found}**" if found == "MISSED" else found]
        )
    lines = ["| # | bar | must | reach for | measured | |", "|---|---|---|---|---|---|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def notes(results: Measured) -> str:
    lines = [f"* {bar.id}: {bar.note}" for bar in BARS if bar.note]
    parts = {"B9": "huge", "B10": "damaged", "B11": "exact", "B6": "sizes/5M", "E1 to E4": "replay"}
    parts |= {
        "F1": "flops",
        "P1": "program",
        "G1": "growth",
        "R1 to R6": "ranks",
        "C1 and C2": "cli",
        "D1 and D2": "large_file",
    }
    for name, part in parts.items():
        date = at(results, f"{part}/date")
        if date and (date, at(results, f"{part}/code")) != (results["header"]["date"], results["header"].get("commit")):
            lines.append(f"* {name} was measured on {date}{_code(at(results, part))}, not in the last run.")
    return "\n".join(lines)


def size_section(name: str, results: Measured) -> str:
    m: Measured = results["sizes"][name]
    fixed: Measured = results.get("fixed", {})

    def of(path: str) -> float | None:
        value: float | None = at(m, path)
        return value

    hta = less(of("HTA/tree_cpu"), of("HTA/imported"))
    hta_load = of("HTA/loaded") if m["files"] == 1 else None  # several are loaded in processes of their own
    ranks = f"{m['files']} ranks, together " if m["files"] > 1 else ""
    text = [
        f"### {name}: {ranks}{m['events']:,} events, {megabytes(m['text'])} MB of JSON,"
        f" {megabytes(m['gz'])} MB .json.gz",
        "",
        f"Measured {m['date']}{_code(m)}; the least of "
        + ", ".join(f"{n}: {c}" for n, c in m["repetitions"].items())
        + " runs.",
        "",
        table(
            ["CPU seconds", "ours", "old plugin", "HTA", "L", "J"],
            [
                ["floor", "", "", "", seconds(of("L/cpu")), seconds(of("J/cpu"))],
                ["ingest (into memory)", seconds(of("ingest/cpu")), "", seconds(hta_load), "", ""],
                ["read and cache written", seconds(of("ours/read")), "", "", "", ""],
                ["… and first view", seconds(of("ours/first_view")), "", "", "", ""],
                ["**first load, all views**", f"**{seconds(of('ours/all_views'))}**", "", seconds(hta), "", ""],
                ["… in L", times(of("ours/all_views"), of("L/cpu")), "", times(hta, of("L/cpu")), "1", ""],
                ["… in J", times(of("ours/all_views"), of("J/cpu")), "", times(hta, of("J/cpu")), "", "1"],
                ["the timeline, after that", seconds(of("ours/timeline")), "", "", "", ""],
                ["imports before that", seconds(of("ours/imported")), "", seconds(of("HTA/imported")), "", ""],
                [
                    "in the host: process tree, old routes",
                    seconds(of("host/cpu")),
                    seconds(of("host old/cpu")),
                    "",
                    "",
                    "",
                ],
                [
                    "… less the fixed cost (3k events)",
                    seconds(less(of("host/cpu"), at(fixed, "host/cpu"))),
                    seconds(less(of("host old/cpu"), at(fixed, "host old/cpu"))),
                    "",
                    "",
                    "",
                ],
                ["reopen: first view", seconds(of("ours/reopen/first_view")), "", "", "", ""],
                ["reopen: everything", seconds(of("ours/reopen/all_views")), "", "", "", ""],
                [
                    "real server, start to last answer",
                    f"{seconds(of('serve/cpu'))} (serve)",
                    NOTHING,
                    "",
                    "",
                    "",
                ],
                [
                    "TensorBoard, start to last answer",
                    seconds(of("TensorBoard/cpu")),
                    seconds(of("TensorBoard old/cpu")),
                    "",
                    "",
                    "",
                ],
            ],
        ),
        "",
        table(
            ["wall seconds", "ours", "old plugin", "HTA", "old ÷ ours"],
            [
                ["host: plugin start → ready", *_pair(m, "host/ready", "host old/ready")],
                ["host: plugin start → all answers", *_pair(m, "host/views", "host old/views", of("HTA/wall"))],
                ["`serve`, 2 workers: start → all answers", seconds(of("serve/wall")), "", "", ""],
                ["TensorBoard: start → all answers", *_pair(m, "TensorBoard/wall", "TensorBoard old/wall")],
            ],
        ),
        "",
        table(
            ["memory, MB", "ours", "old plugin", "HTA", "L", "J"],
            [
                [
                    "peak, one process, all views",
                    megabytes(of("ours/peak")),
                    "",
                    megabytes(of("HTA/peak")),
                    megabytes(of("L/peak")),
                    megabytes(of("J/peak")),
                ],
                ["… before any trace", megabytes(of("ours/imported_memory")), "", "", "", ""],
                [
                    "peak of the process tree (host, PSS)",
                    megabytes(of("host/peak")),
                    megabytes(of("host old/peak")),
                    megabytes(of("HTA/tree_peak")),
                    "",
                    "",
                ],
                [
                    "largest process of the tree",
                    megabytes(of("host/peak_one")),
                    megabytes(of("host old/peak_one")),
                    "",
                    "",
                    "",
                ],
                ["held by `serve`, all views visited", megabytes(of("serve/held")), "", "", "", ""],
                [
                    "held by TensorBoard",
                    megabytes(of("TensorBoard/held")),
                    megabytes(of("TensorBoard old/held")),
                    "",
                    "",
                    "",
                ],
                ["cache on disk", megabytes(of("ours/cache")), "", "", "", ""],
            ],
        ),
        "",
        *_troubles(m),
    ]
    return "\n".join(text)


def _code(m: Measured) -> str:
    return f" at {m['code']}" if "code" in m else ""


def _pair(m: Measured, ours: str, old: str, hta: float | None = None) -> list[str]:
    mine, theirs = at(m, ours), at(m, old)
    return [seconds(mine), seconds(theirs), seconds(hta) if hta else "", times(theirs, mine)]


def _troubles(m: Measured) -> list[str]:
    """What did not answer or did not run; a program that answers less also costs less."""
    lines = []
    for program, said in (("ours", "ours"), ("host", "ours, in the host"), ("host old", "old plugin")):
        if bad := at(m, f"{program}/bad"):
            lines.append(
                f"Not answered by {said}: " + ", ".join(f"{route} ({code})" for route, code in bad.items()) + "."
            )
    for name, value in m.items():
        if isinstance(value, dict) and "failed" in value:
            lines.append(f"{name} failed: {' '.join(value['failed'])}")
    if unanswered := at(m, "HTA/unanswered"):
        lines.append(f"Not answered by HTA: {', '.join(unanswered)}.")
    return ["\n\n".join(lines), ""] if lines else []


def routes_table(results: Measured, name: str) -> str:
    ours: dict[str, list[float]] = at(results, f"sizes/{name}/ours/routes") or {}
    old: dict[str, list[float]] = at(results, f"sizes/{name}/host old/routes") or {}
    bad: dict[str, int] = at(results, f"sizes/{name}/host old/bad") or {}

    def cells(pair: list[float] | None) -> list[str]:
        return [NOTHING, NOTHING] if pair is None else [f"{1000 * value:.1f}" for value in pair]

    rows = []
    for label in sorted(ours.keys() | old.keys()):
        theirs = [f"({bad[label]})", ""] if label in bad else cells(old.get(label))
        rows.append([f"`{label}`", *cells(ours.get(label)), *theirs])
    return table(["route", "ours, first", "second", "old plugin, first", "second"], rows)


def hostile_table(results: Measured) -> str:
    rows = []
    for name, case in (at(results, "damaged/cases") or {}).items():
        if "failed" in case:
            rows.append([name, "not loaded", "", " ".join(case["failed"])])
            continue
        kept = f"{case['events']:,} of {case['least']:,}"
        rows.append([name, times(case["cpu"], case["clean"]), kept, "yes" if case["noted"] else "**no**"])
    return table(["input", "CPU, of clean", "events", "reported where there is something to"], rows)


def growth_table(results: Measured) -> str:
    """Of each shape the whole, and the parts that grow more than the size."""
    rows = []
    for name, found in at(results, "growth/shapes").items():
        if "failed" in found:
            rows.append([name, f"{found['size']:,}", " ".join(found["failed"]), "", "", "", _own_date(found)])
            continue
        told = [f"`{part}` {ratio:.1f}" for part, _, _, ratio in ratios(found) if ratio > FACTOR]
        (small, large), memory = found["cpu"], found["peak"][1]
        cells = [f"{found['size']:,}", seconds(small), seconds(large), megabytes(memory), "<br>".join(told)]
        cells.append(_own_date(found))
        rows.append([name, *cells])
    head = ["shape", "n", "CPU s at n ÷ 4", "at n", "memory at n, MB", f"× more than {FACTOR} of, × CPU", "apart"]
    return table(head, rows)


def _own_date(found: Measured) -> str:
    """When a shape was measured, if not with the others."""
    return f"{found['date']}{_code(found)}" if "date" in found else ""


def render(results: Measured) -> str:
    """The whole file."""
    header: Measured = results["header"]
    sizes = [name for name in ("10k", "100k", "1M", "5M", "8x100k") if name in results["sizes"]]
    largest = next((name for name in ("1M", "100k", "10k") if name in sizes), None)
    parts = [
        "# Results of `make bench`",
        "Written by `benchmarks/run.py`; [how to read it](../docs/maintainers/benchmarks.md).",
        "\n".join(f"* {key}: {value}" for key, value in header.items()),
        "L is isal's streaming gunzip and simdjson over chunks of 256 KB, J is `json.loads` with the collector off."
        " CPU is user and system time, processes that were started included. Every number comes from fresh"
        " processes, the programs taking turns.",
        "## The bars",
        bars_table(results),
        notes(results),
        "## The sizes",
        *(size_section(name, results) for name in sizes),
    ]
    if largest:
        parts += [
            f"## Routes at {largest} events, CPU milliseconds of the server process",
            routes_table(results, largest),
        ]
    if at(results, "growth/shapes"):
        parts += ["## Hard shapes (G1)", growth_table(results)]
    if at(results, "damaged/cases"):
        parts += ["## Hostile inputs (B10)", hostile_table(results)]
    return "\n\n".join(part for part in parts if part) + "\n"
