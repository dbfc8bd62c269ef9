"""Which traces of a folder are the ranks of one run, and what a person should know about the answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

import msgspec

from torch_tb_profiler.ranks.run.data import RunData
from torch_tb_profiler.ranks.run.groups import world_of
from torch_tb_profiler.ranks.summary import RankHead, RankSummary
from torch_tb_profiler.reason import Value
from torch_tb_profiler.trace import Note, Severity, note

_TOUCHES = ("distributed",)
#: traces of one recording overlap in time, and the clocks of hosts differ by less than this
APART_NS = 600 * 10**9
#: earlier times are not those since the epoch, and say nothing on another host
EPOCH_FROM_NS = 1_400_000_000 * 10**9
#: names in a sentence
MOST_NAMES = 4


class _Chosen(Sequence[RankSummary]):
    """Some of the summaries, each taken when it is needed."""

    def __init__(self, summaries: Sequence[RankSummary], places: Sequence[int]) -> None:
        self._summaries, self._places = summaries, places

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, at: int) -> RankSummary:  # type: ignore[override]
        return self._summaries[self._places[at]]


class ChosenRanks(msgspec.Struct, frozen=True):
    """ranks: in order of rank; duplicates, foreign, differing_windows: workers that were left out."""

    ranks: Sequence[RankSummary]
    duplicates: tuple[str, ...]
    foreign: tuple[str, ...]
    differing_windows: tuple[str, ...]


def chosen_ranks(summaries: Sequence[RankSummary]) -> ChosenRanks:
    """Choose one trace for each rank, from the recording of most ranks: same number of ranks of the job, same time."""
    heads = [summary.head for summary in summaries]
    worlds = Counter(head.world for head in heads if head.world)
    world = max(worlds, key=lambda each: (worlds[each], each), default=None)
    foreign = {place for place, head in enumerate(heads) if _is_foreign(head, world)}
    together = _recorded_together(heads, [place for place in range(len(heads)) if place not in foreign])
    order = sorted(
        together,
        key=lambda place: (heads[place].rank is None, heads[place].rank or 0, heads[place].worker),
    )
    kept: list[int] = []
    seen: set[int] = set()
    duplicates = []
    for place in order:
        rank = heads[place].rank
        if rank is not None and rank in seen:
            duplicates.append(heads[place].worker)
            continue
        if rank is not None:
            seen.add(rank)
        kept.append(place)
    apart = set(range(len(heads))) - foreign - set(together)
    return ChosenRanks(
        _Chosen(summaries, kept),
        tuple(duplicates),
        tuple(heads[place].worker for place in sorted(foreign)),
        tuple(heads[place].worker for place in sorted(apart)),
    )


def _is_foreign(head: RankHead, world: int | None) -> bool:
    return world is not None and head.world is not None and head.world != world


def _recorded_together(heads: Sequence[RankHead], places: Sequence[int]) -> Sequence[int]:
    """Choose the traces of one time window, parted from others by a gap: most ranks, then the latest."""
    windows = sorted(
        (heads[place].origin_ns + heads[place].first_ns, heads[place].origin_ns + heads[place].last_ns, place)
        for place in places
    )
    if not windows or windows[0][0] < EPOCH_FROM_NS:
        return places
    windows_of_places: list[list[int]] = []
    until = windows[0][0] - APART_NS - 1
    for first, last, place in windows:
        if first > until + APART_NS:
            windows_of_places.append([])
        windows_of_places[-1].append(place)
        until = max(until, last)
    numbers = [
        len({heads[place].worker if (rank := heads[place].rank) is None else rank for place in each})
        for each in windows_of_places
    ]
    return max(zip(numbers, range(len(windows_of_places)), windows_of_places, strict=True))[2]


def notes_of(run: RunData, chosen: ChosenRanks, loading: Sequence[str], failed: Sequence[str]) -> list[Note]:
    """Why the answer is partial."""
    return list(_notes(run, chosen, loading, failed))


def _notes(run: RunData, chosen: ChosenRanks, loading: Sequence[str], failed: Sequence[str]) -> Iterator[Note]:
    world = world_of(run)
    if loading:
        yield _note("ranks_loading", "info", loading)
    if failed:
        yield _note("ranks_failed", "warning", failed)
    if damaged := [head.worker for head in run.heads if head.damage]:
        kinds = ", ".join(sorted({kind for head in run.heads for kind in head.damage}))
        yield _note("damaged_ranks", "warning", damaged, kinds=kinds)
    if chosen.duplicates:
        yield _note("duplicate_ranks", "warning", chosen.duplicates)
    if chosen.foreign:
        yield _note("foreign_ranks", "warning", chosen.foreign, world=world or 0)
    if chosen.differing_windows:
        yield _note("different_windows", "warning", chosen.differing_windows, minutes=APART_NS // 60 // 10**9)
    if world and len(run) < world and not loading:
        here = {head.rank for head in run.heads}
        count = world - sum(rank in range(world) for rank in here)
        # a file may say any number
        absent = [str(rank) for rank in islice((rank for rank in range(world) if rank not in here), MOST_NAMES)]
        yield _note("absent_ranks", "warning", absent, count, present=len(run), world=world)
    for name in sorted({name for head in run.heads for name in head.versions}):
        values = Counter(head.versions.get(name, "") for head in run.heads)
        if len(values) > 1:
            told = [f"{value or 'unknown'} ({count})" for value, count in values.most_common()]
            yield _note("versions_differ", "warning", told, of=name)
    yield from _about_steps(run)
    yield from _windows(run)
    if unnumbered := len(run.numbering.doubted):
        yield _note("matched_by_order", "info", [], groups=unnumbered)


def _about_steps(run: RunData) -> Iterator[Note]:
    """Report ranks that recorded other steps than others."""
    steps = [frozenset(head.steps) for head in run.heads]
    if len(set(steps)) < 2:
        return
    fewest, most = min(map(len, steps)), max(map(len, steps))
    common = len(frozenset.intersection(*steps))
    usual = Counter(steps).most_common(1)[0][0]
    alone = [head.worker for head, each in zip(run.heads, steps, strict=True) if not each & usual]
    yield _note(
        "unequal_steps",
        "warning" if alone else "info",
        alone,
        fewest=fewest,
        most=most,
        alike=fewest == most,
        common=common,
    )


def _windows(run: RunData) -> Iterator[Note]:
    """Traces that share neither a step nor a moment with most others. What is cut off ends early."""
    steps = [frozenset(head.steps) for head in run.heads]
    first = [head.origin_ns + head.first_ns for head in run.heads]
    last = [head.origin_ns + head.last_ns for head in run.heads]
    if len(run) < 2 or frozenset.intersection(*steps) or max(first) <= min(last):
        return
    if max(Counter(name for each in steps for name in each).values(), default=0) < 2:
        yield _note("different_windows", "warning", [])
        return
    usual = Counter(steps).most_common(1)[0][0]
    begin = max(at for at, each in zip(first, steps, strict=True) if each == usual)
    end = min(at for at, each in zip(last, steps, strict=True) if each == usual)
    apart = [
        head.worker
        for at, head in enumerate(run.heads)
        if not (steps[at] & usual or head.damage) and (first[at] > end or last[at] < begin)
    ]
    if apart:
        yield _note("different_windows", "warning", apart)


def _note(kind: str, severity: Severity, names: Sequence[str], count: int | None = None, **values: Value) -> Note:
    """Make a note that lists names. count: how many there are, where `names` are only the first."""
    count = len(names) if count is None else count
    return note(
        kind,
        severity,
        max(count, 1),
        _TOUCHES,
        values={"names": ", ".join(names[:MOST_NAMES]), "more": max(count - MOST_NAMES, 0), **values},
    )
