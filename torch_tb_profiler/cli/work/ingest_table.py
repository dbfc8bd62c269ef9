"""What `ingest` says of a run, as a table for people."""

from __future__ import annotations

from collections.abc import Sequence

from torch_tb_profiler.cli.saying import safe
from torch_tb_profiler.ingest.together import RunOutcome
from torch_tb_profiler.ranks.run_answers import MissingCollective, RunTiles, Straggler
from torch_tb_profiler.workspace.catalog import CatalogSkipped

_MS = 1_000_000
#: what is not 0.00 ms
_LEAST_NS = 5_000
#: of files and notes that are listed
_MOST = 20

CAUSES = {
    "input": "waits for input",
    "slow_compute": "computes slower",
    "more_work": "has more work",
    "slow_operator": "one operator takes longer",
    "late_launches": "launches late",
    "allocator": "allocates memory",
    "network": "its network is slower",
    "unknown": "cause unknown",
}


def table_of(run: RunOutcome) -> str:
    """A line for each thing to know, stragglers first."""
    lines = [f"{run.run}, span {run.span}" if run.span != "default" else run.run]
    if run.result is not None:
        overview = run.result.overview
        lines += _tiles(overview.tiles)
        named = [each for each in overview.stragglers if each.named]
        of_two = [each for each in overview.stragglers if each.doubt == "few_peers"]
        lines += (
            [f"  slow       {_straggler(each)}" for each in named]
            or [f"  slower     of the two, {_straggler(each)}" for each in of_two]
            or ["  slow       no rank is clearly slow"]
        )
        lines += [
            f"  slow link  {link.group} ({', '.join(link.hosts)}): {_ms(link.extra_ns)} a step more, × {link.ratio:.2f}"
            for link in overview.slow_links
        ]
        lines += _listed("missing", [_missing(each) for each in overview.missing])
        lines += _listed("note", [note.text for note in overview.notes])
    lines += _listed("failed", _files(run.failed))
    lines += _listed("skipped", _files(run.skipped))
    return "\n".join(map(safe, lines))


def _tiles(tiles: RunTiles) -> list[str]:
    expected = "" if tiles.expected is None else f" of {tiles.expected:,}"
    lines = [f"  ranks      {tiles.present:,}{expected}"]
    times = [
        (f"step {_ms(tiles.step_ns)}", tiles.step_ns),
        (f"exposed wait {_ms(tiles.exposed_wait_ns)}", tiles.exposed_wait_ns),
        (f"exposed transfer {_ms(tiles.exposed_transfer_ns)}", tiles.exposed_transfer_ns),
        (f"lost to slow ranks {_ms(tiles.lost_ns)}", tiles.lost_ns),
    ]
    known = [text for text, value in times if value is not None]
    return [*lines, f"  per step   {', '.join(known)}"] if known else lines


def _straggler(of: Straggler) -> str:
    who = of.worker if of.rank is None else f"rank {of.rank}"
    where = f" on {of.host}" if of.host else ""
    what = f": {of.operator}" if of.operator else ""
    is_shown = of.saving_ns is not None and of.saving_ns >= _LEAST_NS
    saving = f"; without it a step is {_ms(of.saving_ns)} shorter" if is_shown else ""
    return f"{who}{where}: {_ms(of.late_ns)} a step, {CAUSES[of.cause]}{what}{saving}"


def _missing(of: MissingCollective) -> str:
    number = "" if of.sequence is None else f" number {of.sequence}"
    step = "" if of.step is None else f", step {of.step}"
    ranks = ", ".join("?" if rank is None else str(rank) for rank in of.ranks)
    doubt = "" if of.exact else "; one of several equal ones"
    stops = "; nothing follows in the group: it may hang there" if of.stops else ""
    return f"{of.name}{number} of {of.group}{step}: not on rank {ranks}{doubt}{stops}"


def _ms(ns: float | None) -> str:
    return "" if ns is None else f"{ns / _MS:,.2f} ms"


def _files(files: Sequence[CatalogSkipped]) -> list[str]:
    return [f"{each.file} {each.text}" for each in files]


def _listed(what: str, texts: Sequence[str]) -> list[str]:
    lines = [f"  {what:<10} {text}" for text in texts[:_MOST]]
    return [*lines, f"  {what:<10} and {len(texts) - _MOST} more"] if len(texts) > _MOST else lines
