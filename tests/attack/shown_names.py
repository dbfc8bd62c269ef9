"""What is read outside the page, of traces with hostile names: commands, the report in one file, cards of notebooks.

Terminals get no control characters, HTML holds no markup but our own, and one long name makes nothing long but itself.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import torch_tb_profiler
from tests.attack.names import NAMES, snapshot_of_names, trace_of_names
from tests.snapshots import dumped
from torch_tb_profiler.cli import main

#: characters that a command writes of names, of which one may be 100,000 long and stand in two columns and in sentences
MOST_SAID = 1_500_000
#: bytes of a report of two ranks (the page alone has 600,000), and of a card
MOST_REPORT, MOST_CARD = 6_000_000, 25_000
TAGS = frozenset("b br code div li p rect section span svg table tbody td th thead title tr ul".split())


def names_of(seed: int) -> tuple[str, ...]:
    """Some of NAMES, and pieces of several in one."""
    dice = random.Random(seed)
    glued = ("".join(dice.choice(NAMES)[:60] for _ in range(dice.randint(2, 4))) for _ in range(10))
    signs = ("".join(chr(dice.randrange(0x20000)) for _ in range(8)) for _ in range(5))
    return tuple(dict.fromkeys([*dice.sample(NAMES, 15), *glued, *signs]))


def wrong_of(folder: Path, seed: int) -> Iterator[str]:
    names = names_of(seed)
    # paths cannot hold these, nor halves of characters
    plain = "".join(names[15:17]).encode("utf-8", "ignore").decode().replace("/", "").replace("\x00", "").encode()
    logs, file = folder / "logs", plain[:80].decode("utf-8", "ignore") or "x"
    for run, some in (("base", names), (f"run {file}", names[::2])):
        (logs / run).mkdir(parents=True)
        for rank in (0, 1):
            (logs / run / f"{file}{rank}.pt.trace.json").write_text(json.dumps(trace_of_names(some, rank, 2)))
    base, new = (str(logs / run) for run in ("base", f"run {file}"))
    snapshot = logs / f"{file}.pickle"
    snapshot.write_bytes(dumped(snapshot_of_names(names).snapshot()))
    report, cache = folder / "report.html", folder / "cache"
    for words in (
        ("summary", base),
        ("health", new),
        ("doctor", str(logs)),
        ("compare", base, new),
        ("check", base, new),
        ("memory", str(snapshot)),
        ("memory", new),
        ("operators", new),
        ("kernels", new),
        ("summary", str(logs), "--run", names[0]),
        *(("sql", f"{base}/{file}0.pt.trace.json", query) for query in _queries(names[0])),
        ("report", new, "-o", str(report)),
    ):
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            code = main([*words, "--cache-dir", str(cache)])
        if code not in (0, 1, 2, 3):
            yield f"{words[0]} ended with {code}"
        yield from _unseen(said.getvalue(), words[0])
        if len(said.getvalue()) > MOST_SAID:
            yield f"{words[0]} writes {len(said.getvalue()):,} characters"
    yield from _wrong_of_report(report)
    yield from _wrong_of_cards(logs, cache)
    trace = torch_tb_profiler.open(base, cache_dir=cache).runs[0].traces[0]
    for query in _queries(names[0]):
        try:
            yield from _unseen(repr(trace.sql(query)), "the text form of rows")
        except torch_tb_profiler.ProfileError as error:
            yield from _unseen(str(error), "an exception")
    memory = torch_tb_profiler.open(snapshot, cache_dir=cache).memory_snapshot
    yield from _unseen(repr(memory), "the text form of a memory snapshot")


def _queries(name: str) -> tuple[str, ...]:
    """Hostile columns, values inside of values, and what DuckDB says about hostile statements."""
    quoted, text = name.replace('"', '""'), name.replace("'", "''")
    return (
        f'SELECT 1 AS "{quoted}\x1b[2J\u202e"',
        "SELECT {'name': name} AS inside, [name] AS list, name FROM kernels",
        f"SELECT error(name || '{text}\x1b[2J') FROM kernels",
        f"SELECT no\x1b[2J{name} FROM kernels",
    )


def _unseen(text: str, where: str) -> Iterator[str]:
    wrong = {sign for sign in text if not sign.isprintable() and sign != "\n"}
    if wrong:
        yield f"{where} writes {sorted(map(ascii, wrong))}"


def _wrong_of_report(report: Path) -> Iterator[str]:
    text = report.read_text("utf-8")
    if len(text) > MOST_REPORT:
        yield f"a report has {len(text):,} bytes"
    found = _Markup()
    found.feed(text)
    if found.tags.count("script") != 2 or set(found.tags) - {*"html head meta title link body noscript script".split()}:
        yield f"a report holds {found.tags}"


def _wrong_of_cards(logs: Path, cache: Path) -> Iterator[str]:
    profile = torch_tb_profiler.open(logs, cache_dir=cache)
    run = profile.runs[0]
    trace = run.traces[0]
    shown = (profile, run, trace, trace.operators(), trace.kernels(), run.traces[1].modules())
    for each in shown:
        kind = type(each).__name__
        forms = each._repr_mimebundle_()
        for form in ("text/plain", "text/markdown"):
            yield from _unseen(forms[form], f"{form} of {kind}")
        yield from _unseen(repr(each), f"the text form of {kind}")
        yield from _unseen(forms["text/html"], f"the card of {kind}")
        if len(forms["text/html"].encode()) > MOST_CARD:
            yield f"the card of {kind} has {len(forms['text/html']):,} bytes"
        found = _Markup()
        found.feed(forms["text/html"])
        if set(found.tags) - TAGS or found.runs:
            yield f"the card of {kind} holds {sorted(set(found.tags) - TAGS)} and {found.runs}"


class _Markup(HTMLParser):
    """Tags of a page, and attributes that run."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.runs: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.runs += [name for name, _ in attrs if name.startswith("on") or name in {"href", "src"}]
